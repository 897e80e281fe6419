//! The queries to the database. tests/gateway_reference.py asks the same of the files with the
//! host's SQLite.

use core::ffi::CStr;

use cofferdam::println;
use wire::Series;

use crate::failure::Failure;
use crate::shared::Memory;
use crate::sqlite::Database;

/// Prefix of the results' names, and a query of two columns: the rest of the name, and the value.
const QUERIES: &[(&str, &CStr)] = &[
    (
        "rows",
        c"SELECT 'weather', count(*) FROM weather UNION ALL SELECT 'seattle', count(*) FROM seattle
          UNION ALL SELECT 'san_francisco', count(*) FROM san_francisco",
    ),
    ("mean_temp_max", c"SELECT substr(date, 1, 4) AS year, avg(temp_max) FROM weather GROUP BY year ORDER BY year"),
    ("precipitation", c"SELECT substr(date, 1, 4) AS year, sum(precipitation) FROM weather GROUP BY year ORDER BY year"),
    ("days", c"SELECT kind, count(*) FROM weather GROUP BY kind ORDER BY kind"),
    ("strongest_wind", c"SELECT kind, max(wind) FROM weather GROUP BY kind ORDER BY kind"),
    (
        "rain_follows",
        c"SELECT before.kind, avg(after.kind = 'rain') FROM weather AS before
          JOIN weather AS after ON after.date = date(before.date, '+1 day') GROUP BY before.kind ORDER BY before.kind",
    ),
    (
        "both",
        c"SELECT 'hours', count(*) FROM seattle JOIN san_francisco USING (hour)
          UNION ALL SELECT 'warmer_in_seattle', sum(s.temp > f.temp) FROM seattle AS s JOIN san_francisco AS f USING (hour)
          UNION ALL SELECT 'mean_difference', avg(f.temp - s.temp) FROM seattle AS s JOIN san_francisco AS f USING (hour)",
    ),
    (
        "difference_by_month",
        c"SELECT substr(hour, 6, 2) AS month, avg(f.temp - s.temp)
          FROM seattle AS s JOIN san_francisco AS f USING (hour) GROUP BY month ORDER BY month",
    ),
    (
        "warmest_hour",
        c"SELECT substr(hour, 12, 2) AS of_day, avg(temp) AS mean FROM seattle GROUP BY of_day ORDER BY mean DESC LIMIT 3",
    ),
];

const SERIES: &CStr = c"SELECT s.temp, f.temp FROM seattle AS s JOIN san_francisco AS f USING (hour) ORDER BY hour";

/// Prints the answers.
pub fn run(database: &Database) -> Result<(), Failure> {
    for (prefix, sql) in QUERIES {
        let mut statement = database.prepare(sql)?;
        while statement.step()? {
            let value = statement.number(1);
            println!("RESULT sql.{prefix}.{} {value}", statement.text(0));
        }
    }
    Ok(())
}

/// Stores the joined series in memory; returns the number of pairs.
pub fn series(database: &Database, memory: Memory) -> Result<usize, Failure> {
    let series = Series::new(memory);
    let mut statement = database.prepare(SERIES)?;
    let mut count = 0;
    while statement.step()? {
        if !series.set(count, [statement.number(0), statement.number(1)]) {
            return Err(Failure::Series);
        }
        count += 1;
    }
    series.publish(count);
    Ok(count)
}
