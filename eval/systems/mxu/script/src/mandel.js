// A Mandelbrot set of 60 x 30 points: how many iterations all points take together.
(function () {
    var width = 60, height = 30, most = 80;
    function mandel() {
        var total = 0;
        for (var y = 0; y < height; y++) {
            for (var x = 0; x < width; x++) {
                var re = x / width * 3 - 2, im = y / height * 2 - 1, a = 0, b = 0, n = 0;
                while (n < most && a * a + b * b <= 4) {
                    var next = a * a - b * b + re;
                    b = 2 * a * b + im;
                    a = next;
                    n++;
                }
                total += n;
            }
        }
        return total;
    }
    result(measure(mandel));
})();
