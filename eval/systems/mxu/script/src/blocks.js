// The same covariance, of sequences held in arrays that fit a frame: jStat's mean and covariance of each block,
// and from them those of the whole. The blocks of one position are allocated together.
(function () {
    var count = 75000, block = 2500, first = [], second = [];
    for (var from = 0; from < count; from += block) {
        first.push(fill(from, block, 0));
        second.push(fill(from, block, 1));
    }
    function covariance() {
        var a = [], b = [], sum = 0;
        for (var k = 0; k < first.length; k++) {
            a.push(jStat.mean(first[k]));
            b.push(jStat.mean(second[k]));
        }
        var meanA = jStat.mean(a), meanB = jStat.mean(b);
        for (k = 0; k < first.length; k++) {
            sum += jStat.covariance(first[k], second[k]) * (block - 1);
            sum += (a[k] - meanA) * (b[k] - meanB) * block;
        }
        return sum / (count - 1);
    }
    result(measure(covariance));
})();
