// The covariance of two sequences of `count` numbers, each held in one array.
(function () {
    var first = fill(0, count, 0), second = fill(0, count, 1);
    result(measure(function () { return jStat.covariance(first, second); }));
})();
