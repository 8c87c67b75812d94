package forecast

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"capcli/forecast/model"
)

// sharedRows reads the rows of a compressed file of shared/data: cells between commas, or between blanks in
// a log of the Parallel Workloads Archive, whose comments are left out.
func sharedRows(t *testing.T, name string, each func(cells []string)) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "shared", "data", filepath.FromSlash(name)))
	if err != nil {
		t.Skip("no data here: ", err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".swf.gz") {
		lines := bufio.NewScanner(z)
		for lines.Scan() {
			if text := lines.Text(); !strings.HasPrefix(text, ";") {
				each(strings.Fields(text))
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		return
	}
	r := csv.NewReader(z)
	r.ReuseRecord = true
	if _, err = r.Read(); err != nil {
		t.Fatal(err)
	}
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		each(cells)
	}
}

// daySums are levels by day, by the name of the series.
type daySums map[string][]float64

// job adds what a job of some seconds holds from an instant on to the days of its series, as a mean level.
func (d daySums) job(name string, at, length, gpus float64) {
	const daySeconds = 86400
	for end := at + length; at < end; {
		k := int(at / daySeconds)
		till := min(end, float64(k+1)*daySeconds)
		for len(d[name]) <= k {
			d[name] = append(d[name], 0)
		}
		d[name][k] += gpus * (till - at) / daySeconds
		at = till
	}
}

// series are the n longest, largest first, without the days before the first demand and after the last submission.
func (d daySums) series(days, n int) [][]float64 {
	names := slices.SortedFunc(maps.Keys(d), func(a, b string) int {
		if x, y := model.Mean(d[a])*float64(len(d[a])), model.Mean(d[b])*float64(len(d[b])); x != y {
			if x > y {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	var out [][]float64
	for _, name := range names[:min(n, len(names))] {
		v := d[name]
		for len(v) < days {
			v = append(v, 0)
		}
		v = v[1:days] // the first day is not whole
		for len(v) > 0 && v[0] == 0 {
			v = v[1:]
		}
		if len(v) >= 56 {
			out = append(out, v)
		}
	}
	return out
}

// logDays are daily means of what the jobs of a log would hold had none waited, in all and by the largest queues.
func logDays(t *testing.T, name string) [][]float64 {
	sums, last := daySums{}, 0.0
	sharedRows(t, "swf/"+name+".swf.gz", func(c []string) {
		var v [3]float64
		for i, at := range []int{1, 3, 4} {
			v[i], _ = strconv.ParseFloat(c[at], 64)
		}
		if v[1] <= 0 || v[2] <= 0 {
			return
		}
		last = max(last, v[0])
		sums.job("all", v[0], v[1], v[2])
		if c[14] != "-1" {
			sums.job("queue "+c[14], v[0], v[1], v[2])
		}
	})
	return sums.series(int(last/86400), 5)
}

// clusterDays are daily means of Philly's demand, in all and by virtual cluster, and of Helios' starts.
func clusterDays(t *testing.T) [][]float64 {
	start := time.Date(2017, 9, 1, 0, 0, 0, 0, time.UTC)
	sums, last := daySums{}, 0.0
	sharedRows(t, "philly/philly_sia.csv.gz", func(c []string) {
		at, err := time.Parse(time.DateTime, c[0])
		length, bad := strconv.ParseFloat(c[1], 64)
		gpus, worse := strconv.ParseFloat(c[2], 64)
		if err != nil || bad != nil || worse != nil || at.Before(start) {
			return
		}
		from := at.Sub(start).Seconds()
		last = max(last, from)
		sums.job("all", from, length, gpus)
		sums.job(c[4], from, length, gpus)
	})
	out := sums.series(int(last/86400), 12)
	helios := daySums{}
	start = time.Date(2020, 4, 1, 0, 0, 0, 0, time.UTC)
	last = 0
	sharedRows(t, "helios/cluster_throughput.csv.gz", func(c []string) {
		at, err := time.Parse(time.DateTime, c[0])
		jobs, bad := strconv.ParseFloat(c[1], 64)
		gpus, worse := strconv.ParseFloat(c[7], 64)
		if err != nil || bad != nil || worse != nil {
			return
		}
		from := at.Sub(start).Seconds()
		last = max(last, from)
		helios.job("jobs", from, 600, jobs)
		helios.job("gpus", from, 600, gpus)
	})
	return append(out, helios.series(int(last/86400), 2)...)
}

// cloudDays are daily means of Snowflake's demand by region and type.
func cloudDays(t *testing.T) [][]float64 {
	start := time.Date(2021, 2, 1, 0, 0, 0, 0, time.UTC)
	sums, last := daySums{}, 0.0
	sharedRows(t, "demand/snowflake_hourly.csv.gz", func(c []string) {
		at, err := time.Parse("2006-01-02 15:04:05.000", c[0])
		v, bad := strconv.ParseFloat(c[3], 64)
		if err != nil || bad != nil {
			return
		}
		from := at.Sub(start).Seconds()
		last = max(last, from)
		sums.job(c[1]+c[2], from, 3600, v)
	})
	return sums.series(int(last/86400), 48)
}

// dailySets are demand and prices by day. late tells the ends that are kept back, which nothing was chosen
// on, from the times before them.
func dailySets(t *testing.T, late bool) []demandSet {
	cut := func(name string, seasons []int, all [][]float64, starts int) demandSet {
		s := demandSet{name: name, seasons: seasons, period: 7, until: []int{1, 3, 7, 14}, ahead: []string{"1 d", "3 d", "7 d", "14 d"}}
		for _, y := range all {
			from, to := 28, len(y)*2/3-14
			if late {
				from, to = len(y)*2/3, len(y)-14
			}
			from = max(from, 28)
			for k := range starts {
				if at := from + (to-from)*k/max(1, starts-1); to >= from {
					s.list = append(s.list, demandStart{y[:at:at], y[at : at+14]})
				}
			}
		}
		return s
	}
	train, test := table(t, "m4/Daily-train-69"), table(t, "m4/Daily-test-69")
	plain := demandSet{name: "M4 daily", period: 7, until: []int{1, 3, 7, 14}, ahead: []string{"1 d", "3 d", "7 d", "14 d"}}
	for i, y := range train {
		if late {
			plain.list = append(plain.list, demandStart{y, test[i]})
			continue
		}
		for k := range 4 {
			at := len(y) - 14*(1+k)
			plain.list = append(plain.list, demandStart{y[:at:at], y[at : at+14]})
		}
	}
	weekly := plain
	weekly.name, weekly.seasons = "M4 daily, season 7", []int{week}
	var logs [][]float64
	for _, name := range []string{"KTH-SP2-1996-2.1-cln", "RICC-2010-2", "METACENTRUM-2009-2", "CEA-Curie-2011-2.1-cln"} {
		logs = append(logs, logDays(t, name)...)
	}
	return []demandSet{plain, weekly, cut("Snowflake", []int{week}, cloudDays(t), 4), cut("Philly, Helios", []int{week}, clusterDays(t), 6), cut("job logs", []int{week}, logs, 8)}
}

// TestDailyAccuracy prints, of each daily set and horizon, each model's mean absolute error over that of Theta.
// CAPCLI_ACCURACY=1 runs it on the ends that are kept back, CAPCLI_EARLY=1 on the times before, where weights
// were chosen.
func TestDailyAccuracy(t *testing.T) {
	if os.Getenv("CAPCLI_ACCURACY") == "" {
		t.Skip("CAPCLI_ACCURACY is not set")
	}
	models := []string{"theta", "naive", "ses", "snaive", "auto"}
	if list := os.Getenv("CAPCLI_MODELS"); list != "" {
		models = append([]string{"theta"}, strings.Split(list, ",")...)
	}
	fmt.Printf("| set | starts | ahead | %s |\n", strings.Join(models[1:], " | "))
	fmt.Println("|---|---|---|" + strings.Repeat("---|", len(models)-1))
	for _, s := range dailySets(t, os.Getenv("CAPCLI_EARLY") == "") {
		if only := os.Getenv("CAPCLI_SETS"); only != "" && !strings.Contains(s.name, only) {
			continue
		}
		scaled := map[string]map[int][]float64{}
		for _, name := range models {
			scaled[name] = map[int][]float64{}
			for _, h := range []int{7, 14} {
				_, scaled[name][h] = s.run(t, name, h)
			}
		}
		for k, until := range s.until {
			fmt.Printf("| %s | %d | %s |", s.name, len(s.list), s.ahead[k])
			for _, name := range models[1:] {
				h := max(7, until)
				fmt.Printf(" %.3f |", model.Mean(scaled[name][h][:until])/model.Mean(scaled["theta"][h][:until]))
			}
			fmt.Println()
		}
	}
}
