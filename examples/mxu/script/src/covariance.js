// The covariance of two sequences of 75 000 numbers, each held in one array.
(function () {
    var count = 75000, first = fill(0, count, 0), second = fill(0, count, 1);
    result(measure(function () { return jStat.covariance(first, second); }));
})();
