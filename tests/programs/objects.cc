/* Classes, templates, containers, exceptions, static constructors and destructors, as any program in C++ uses them. */
#include <cstdio>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>
#include <algorithm>
struct Shape {
    virtual ~Shape() { std::puts("~Shape"); }
    virtual const char *name() const = 0;
    virtual double area() const = 0;
};
struct Square : Shape {
    double s;
    explicit Square(double s) : s(s) {}
    const char *name() const override { return "square"; }
    double area() const override { return s * s; }
};
struct Circle : Shape {
    double r;
    explicit Circle(double r) : r(r) {}
    const char *name() const override { return "circle"; }
    double area() const override { return 3 * r * r; }
};
template <typename T> T largest(const std::vector<T> &v) {
    return *std::max_element(v.begin(), v.end());
}
struct Global {
    Global() { std::puts("constructed"); }
    ~Global() { std::puts("destroyed"); }
} global;
int deep(int n) {
    if (n == 0)
        throw std::out_of_range("deep");
    std::string guard("x");
    return deep(n - 1) + (int)guard.size();
}
int main(int argc, char **argv) {
    std::vector<std::unique_ptr<Shape>> shapes;
    shapes.emplace_back(new Square(2));
    shapes.emplace_back(new Circle(1));
    for (auto &s : shapes)
        std::printf("%s %.1f\n", s->name(), s->area());
    std::map<std::string, int> words;
    for (auto w : {"a", "b", "a"})
        words[w]++;
    std::printf("%d %d of %zu; largest %d; %s\n", words["a"], words["b"], words.size(),
                largest(std::vector<int>{3, 9, 4}), argv[argc - 1]);
    try {
        deep(5);
    } catch (const std::exception &e) {
        std::printf("caught %s\n", e.what());
    }
    try {
        std::vector<int> v;
        v.at(3);
    } catch (const std::out_of_range &) {
        std::puts("at");
    }
    if (Shape *s = shapes[0].get())
        std::printf("dynamic_cast %d\n", dynamic_cast<Circle *>(s) != nullptr);
    volatile unsigned much = 100u << 20;
    try {
        std::vector<char> large(much);
        std::puts("too much");
    } catch (const std::bad_alloc &) {
        std::puts("bad_alloc");
    }
    return 0;
}
