package validate

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"capcli"
)

const golden = "../../../shared/golden/calibration"

// goldenLogs are the logs of the reference.
var goldenLogs = []string{"curie-a", "kth", "openb", "world-01", "world-02", "world-03", "world-04", "world-05", "world-06", "world-07", "world-08"}

// goldenAnswer is what the reference says of a log.
type goldenAnswer struct {
	Jobs      int                           `json:"jobs"`
	TooLarge  int                           `json:"too_large"`
	Units     int64                         `json:"units"`
	WarmDays  int64                         `json:"warm_days"`
	Measured  int                           `json:"measured"`
	Highest   int64                         `json:"highest_in_use"`
	Replay    map[string]map[string]float64 `json:"replay"`
	Explained map[string]map[string]float64 `json:"explained"`
	Floor     map[string]float64            `json:"floor_of_30s_jitter"`
	BySize    map[string]map[string]float64 `json:"by_size"`
	ByTenant  map[string]map[string]float64 `json:"by_tenant"`
	ByWeek    map[string]map[string]float64 `json:"by_week"`
	Wrong     []struct {
		Week      int            `json:"week"`
		Recorded  capcli.Seconds `json:"recorded_s"`
		Simulated capcli.Seconds `json:"simulated_s"`
	} `json:"most_wrong_tenant_weeks"`
	WaitSecond map[string]capcli.Seconds `json:"wait_seconds"`
	Diagnosis  map[string]float64        `json:"diagnosis"`
	NoStarts   [][2]int64                `json:"outage_list_after_overtaken"`
	NoStarts2  [][2]int64                `json:"outage_list_of_two_tenants"`
}

// goldenJob is what the reference says of a job.
type goldenJob struct {
	easy, easyRun capcli.Time
	fits          capcli.Seconds
	until         capcli.Time
	by            int
}

func TestMeasuresEqualTheReference(t *testing.T) {
	for _, name := range goldenLogs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, jobs := goldenCase(t, name)
			l := NewLog(goldenLog(t, name), a.Units)
			if len(l.Jobs) != a.Jobs || len(l.TooLarge) != a.TooLarge || l.HighestUse() != a.Highest {
				t.Fatalf("%d jobs, %d too large, highest use %d, want %d, %d, %d", len(l.Jobs), len(l.TooLarge), l.HighestUse(), a.Jobs, a.TooLarge, a.Highest)
			}
			easy, easyRun := make([]capcli.Time, len(l.Jobs)), make([]capcli.Time, len(l.Jobs))
			for i, j := range l.Jobs {
				easy[i], easyRun[i] = jobs[j.ID].easy, jobs[j.ID].easyRun
			}
			from := l.Jobs[0].Queued + capcli.Time(capcli.Seconds(a.WarmDays)*day)
			checkFidelity(t, "easy", l.Measure(easy, from), a.Replay["easy"])
			checkFidelity(t, "easy, limit = run", l.Measure(easyRun, from), a.Replay["easy, limit = run"])
			checkHindsight(t, l, a, jobs, easy)
		})
	}
}

func checkHindsight(t *testing.T, l *Log, a *goldenAnswer, jobs map[string]goldenJob, easy []capcli.Time) {
	t.Helper()
	fits := l.FitTime(l.starts())
	var recorded, simulated capcli.Seconds
	for i, f := range l.FitTime(easy) {
		simulated += f
		recorded += fits[i]
		if want := jobs[l.Jobs[i].ID].fits; fits[i] != want {
			t.Fatalf("job %s would have fitted for %d s, want %d", l.Jobs[i].ID, fits[i], want)
		}
	}
	if recorded != a.WaitSecond["recorded_while_it_would_fit"] || simulated != a.WaitSecond["simulated_while_it_would_fit"] {
		t.Errorf("would have fitted for %d s recorded and %d s simulated, want %v", recorded, simulated, a.WaitSecond)
	}
	overtaken := l.Overtaken()
	got := map[string]Overtaking{}
	for _, o := range overtaken {
		got[l.Jobs[o.Job].ID] = o
	}
	for id, want := range jobs {
		if o := got[id]; o.By != want.by || o.By > 0 && o.Until != want.until {
			t.Fatalf("job %s: overtaken by %d, not eligible before %d, want %d, %d", id, o.By, o.Until, want.by, want.until)
		}
	}
	free, _ := l.WithoutHolds(overtaken)
	checkStretches(t, "after overtaken", free.NoStarts(1), a.NoStarts)
	checkStretches(t, "of two tenants", free.NoStarts(2), a.NoStarts2)
	if n := len(l.NoStarts(1)); float64(n) != a.Diagnosis["outages"] {
		t.Errorf("%d stretches before overtaken, want %v", n, a.Diagnosis["outages"])
	}
}

func checkStretches(t *testing.T, what string, got []Stretch, want [][2]int64) {
	t.Helper()
	var pairs [][2]int64
	for _, s := range got {
		pairs = append(pairs, [2]int64{int64(s.From), int64(s.To)})
	}
	if !slices.Equal(pairs, want) {
		t.Errorf("stretches without starts, %s: %d, want %d\n%v\n%v", what, len(pairs), len(want), pairs[:min(4, len(pairs))], want[:min(4, len(want))])
	}
}

func checkFidelity(t *testing.T, what string, f Fidelity, want map[string]float64) {
	t.Helper()
	got := map[string]float64{
		"jobs":    float64(f.Jobs),
		"rec_p50": float64(f.Recorded.P50), "rec_p90": float64(f.Recorded.P90), "rec_p95": float64(f.Recorded.P95), "rec_p99": float64(f.Recorded.P99), "rec_mean": f.Recorded.Mean,
		"sim_p50": float64(f.Simulated.P50), "sim_p90": float64(f.Simulated.P90), "sim_p95": float64(f.Simulated.P95), "sim_p99": float64(f.Simulated.P99), "sim_mean": f.Simulated.Mean,
		"qdist": f.Distance, "ks": f.KS, "ks60": f.KS60, "mae_log10": f.Error, "bias_log10": f.Bias, "within2": f.Within2, "brier_1h": f.Brier, "base_1h": f.Base,
		"rec_over_1h": f.OverHour, "sim_over_1h": f.SimOver, "w1": f.Wasserstein, "mae": f.MeanError, "use_mae": f.UseError,
	}
	for name, w := range want {
		if name == "within2" { // ours is exact; the reference compares logarithms, whose last digit decides at a factor of just two
			w = math.Round(w*float64(f.Jobs)) / float64(f.Jobs)
			if math.Abs(f.Within2-w)*float64(f.Jobs) < 3 {
				continue
			}
		}
		if g, ok := got[name]; !ok || math.Abs(g-w) > 1e-6*math.Abs(w)+6e-7 {
			t.Errorf("%s: %s = %v, want %v", what, name, g, w)
		}
	}
}

// goldenCase reads the reference's answers of a log.
func goldenCase(t *testing.T, name string) (*goldenAnswer, map[string]goldenJob) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(golden, name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is absent: the reference's answers are not here", golden)
	}
	var a goldenAnswer
	if err := errors.Join(err, json.Unmarshal(b, &a)); err != nil {
		t.Fatal(err)
	}
	jobs := map[string]goldenJob{}
	for _, r := range readRows(t, filepath.Join(golden, name+".expected.csv.gz"), ',') {
		jobs[r["job"]] = goldenJob{
			easy: capcli.Time(number(r["easy_start"])), easyRun: capcli.Time(number(r["easy_limit_run"])),
			fits: capcli.Seconds(number(r["fits_s"])), until: capcli.Time(number(r["not_eligible_before"])), by: int(number(r["overtaken_by"])),
		}
	}
	return &a, jobs
}

// goldenLog reads a log by the rules of the reference.
func goldenLog(t *testing.T, name string) []Job {
	t.Helper()
	const data = "../../../shared/data/"
	var jobs []Job
	switch name {
	case "curie-a":
		for _, r := range readRows(t, data+"calibration/curie-hybrid-2012.csv.gz", ',') {
			jobs = append(jobs, rowJob(r, "job", "tenant", "submit", "start", "end", "nodes", "limit"))
		}
	case "kth":
		jobs = swfJobs(t, data+"swf/KTH-SP2-1996-2.1-cln.swf.gz")
	case "openb":
		for _, r := range readRows(t, data+"openb/openb_pod_list_default.csv.gz", ',') {
			if number(r["num_gpu"]) == 0 || r["scheduled_time"] == "" {
				continue
			}
			r["units"] = strconv.FormatInt(number(r["num_gpu"])*number(r["gpu_milli"]), 10)
			r["job"] = strconv.FormatInt(number(strings.TrimPrefix(r["name"], "openb-pod-")), 10)
			jobs = append(jobs, rowJob(r, "job", "qos", "creation_time", "scheduled_time", "deletion_time", "units", ""))
		}
	default:
		for _, r := range readRows(t, filepath.Join(golden, name+".jobs.csv.gz"), ',') {
			jobs = append(jobs, rowJob(r, "job", "tenant", "submit", "start", "end", "gpus", "limit"))
		}
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return int(number(a.ID) - number(b.ID)) })
	return jobs
}

func rowJob(r map[string]string, id, tenant, submit, start, end, units, limit string) Job {
	j := Job{
		ID: r[id], Tenant: r[tenant], Units: number(r[units]),
		Queued: capcli.Time(number(r[submit])), Start: capcli.Time(number(r[start])), End: capcli.Time(number(r[end])),
	}
	if j.Limit = capcli.Seconds(number(r[limit])); j.Limit <= 0 {
		j.Limit = j.Run()
	}
	return j
}

// swfJobs reads a log in the Standard Workload Format.
func swfJobs(t *testing.T, name string) []Job {
	t.Helper()
	var jobs []Job
	for line := range strings.Lines(readGzip(t, name)) {
		f := strings.Fields(line)
		if len(f) < 18 || f[0] == ";" {
			continue
		}
		submit, wait, run, units, limit := number(f[1]), number(f[2]), number(f[3]), number(f[4]), number(f[8])
		if units <= 0 || run < 0 || wait < 0 {
			continue
		}
		j := Job{ID: f[0], Tenant: f[11], Units: units, Queued: capcli.Time(submit), Start: capcli.Time(submit + wait), End: capcli.Time(submit + wait + run), Limit: capcli.Seconds(limit)}
		if limit <= 0 {
			j.Limit = j.Run()
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func readGzip(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if _, err := io.Copy(&b, z); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readRows reads a table as one map of its columns for each row.
func readRows(t *testing.T, name string, comma rune) []map[string]string {
	t.Helper()
	r := csv.NewReader(strings.NewReader(readGzip(t, name)))
	r.Comma = comma
	return rowMaps(t, r)
}

// readPlainRows is readRows of a table that is not compressed.
func readPlainRows(t *testing.T, name string) []map[string]string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return rowMaps(t, csv.NewReader(strings.NewReader(string(b))))
}

func rowMaps(t *testing.T, r *csv.Reader) []map[string]string {
	t.Helper()
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, rec := range records[1:] {
		row := map[string]string{}
		for i, v := range rec {
			row[records[0][i]] = v
		}
		rows = append(rows, row)
	}
	return rows
}

// number reads a whole number; what is none counts as 0.
func number(text string) int64 {
	f, _ := strconv.ParseFloat(text, 64)
	return int64(f)
}
