// Runs after jStat, with `pairs` set: how the hourly temperatures of two cities go together.
(function () {
    var seattle = [], sanFrancisco = [];
    for (var i = 0; i < pairs; i++) {
        seattle.push(series(i, 0));
        sanFrancisco.push(series(i, 1));
    }
    result('pairs', pairs);
    result('mean.seattle', jStat.mean(seattle));
    result('mean.san_francisco', jStat.mean(sanFrancisco));
    result('stdev.seattle', jStat.stdev(seattle, true));
    result('stdev.san_francisco', jStat.stdev(sanFrancisco, true));
    result('covariance', jStat.covariance(seattle, sanFrancisco));
    result('corrcoeff', jStat.corrcoeff(seattle, sanFrancisco));
})();
