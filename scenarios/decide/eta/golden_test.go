package eta

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"capcli"
	"capcli/testdata/golden"
)

// shared is the folder of real logs and reference answers that is beside the module where it is
// there.
const shared = "../../../../shared/"

// openShared opens a gzip file of shared, and skips the test where there is none.
func openShared(t testing.TB, name string) *gzip.Reader {
	t.Helper()
	f, err := os.Open(shared + name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is not here: the reference data are not part of the module", shared+name)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// readRows reads a table of shared, a map for each row.
func readRows(t testing.TB, name string) []map[string]string {
	t.Helper()
	all, err := csv.NewReader(openShared(t, name)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]map[string]string, 0, len(all))
	for _, r := range all[1:] {
		m := map[string]string{}
		for i, v := range r {
			m[all[0][i]] = v
		}
		rows = append(rows, m)
	}
	return rows
}

// integer reads a number of a table as an integer.
func integer(t testing.TB, s string) int64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return int64(v)
}

// goldenLog reads one of the reference logs, with its capacity. A job without a limit has its run
// for a limit, as in the reference.
func goldenLog(t testing.TB, name string) *Log {
	t.Helper()
	if name == "curie-a" {
		var jobs []Job
		for _, r := range readRows(t, "data/calibration/curie-hybrid-2012.csv.gz") {
			jobs = append(jobs, Job{
				ID: r["job"], Tenant: r["tenant"],
				Queued: capcli.Time(integer(t, r["submit"])), Start: capcli.Time(integer(t, r["start"])), End: capcli.Time(integer(t, r["end"])),
				Units: integer(t, r["nodes"]), Limit: capcli.Seconds(integer(t, r["limit"])),
			})
		}
		return NewLog(runLimits(jobs), 144)
	}
	return NewLog(runLimits(readSWF(t, "data/swf/KTH-SP2-1996-2.1-cln.swf.gz", "")), 100)
}

// readSWF reads the jobs of an SWF log that ran, of one partition unless that is "".
func readSWF(t testing.TB, name, partition string) []Job {
	t.Helper()
	var jobs []Job
	in := bufio.NewScanner(openShared(t, name))
	for in.Scan() {
		f := strings.Fields(in.Text())
		if len(f) < 18 || strings.HasPrefix(f[0], ";") || partition != "" && f[15] != partition {
			continue
		}
		submit, wait, run, units := integer(t, f[1]), integer(t, f[2]), integer(t, f[3]), integer(t, f[4])
		if units <= 0 || run < 0 || wait < 0 {
			continue
		}
		jobs = append(jobs, Job{
			ID: f[0], Tenant: f[11], Queued: capcli.Time(submit), Start: capcli.Time(submit + wait), End: capcli.Time(submit + wait + run),
			Units: units, Limit: capcli.Seconds(max(0, integer(t, f[8]))),
		})
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return jobs
}

func runLimits(jobs []Job) []Job {
	for i := range jobs {
		if jobs[i].Limit <= 0 {
			jobs[i].Limit = capcli.Seconds(jobs[i].run())
		}
	}
	return jobs
}

// replays plays the queue at each submission forward, and fails the test where that fails.
func replays(t testing.TB, l *Log) (Replays, *beliefs) {
	t.Helper()
	b := newBeliefs(l)
	r := Replays{make([]capcli.Seconds, len(l.Jobs)), make([]capcli.Seconds, len(l.Jobs))}
	var p replay
	if err := l.eachSubmission(func(i int, s *queueState) error {
		b.believe(i)
		r.Limits[i], r.Predicted[i] = p.waits(b, i, s)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return r, b
}

// TestForwardGolden holds the forward estimates, the believed runs and the simple methods against a
// second program, job by job.
func TestForwardGolden(t *testing.T) {
	for _, name := range []string{"curie-a", "kth"} {
		t.Run(name, func(t *testing.T) {
			want := map[string]map[string]string{}
			for _, r := range readRows(t, "golden/calibration/"+name+".eta.csv.gz") {
				want[r["job"]] = r
			}
			l := goldenLog(t, name)
			r, b := replays(t, l)
			last, lf := l.lastOfSize(), l.corrected(r.Limits)
			if len(l.Jobs) != len(want) {
				t.Errorf("%d jobs, want %d", len(l.Jobs), len(want))
			}
			wrong := 0
			for i := range l.Jobs {
				w := want[l.Jobs[i].ID]
				for _, f := range []struct {
					column      string
					got, within float64
				}{
					{"believed_run", float64(b.runs[i]), 0},
					{"limits_forward", float64(r.Limits[i]), 0},
					{"predicted_forward", float64(r.Predicted[i]), 0},
					{"last100", last[i].Wait, 0},
					{"last100_lo", last[i].Lo, 0},
					{"last100_hi", last[i].Hi, 0},
					{"last100_p1h", last[i].OverHour, 1e-4},
					{"lf_mid", lf[i].Wait, 0.1},
					{"lf_lo", lf[i].Lo, 0.1},
					{"lf_hi", lf[i].Hi, 0.1},
					{"lf_p1h", lf[i].OverHour, 1.01 / 200},
				} {
					v, err := strconv.ParseFloat(w[f.column], 64)
					if err != nil {
						t.Fatalf("job %s: %s: %v", l.Jobs[i].ID, f.column, err)
					}
					if math.Abs(f.got-v) > f.within+1e-6*v {
						if wrong++; wrong < 5 {
							t.Errorf("job %s: %s is %g, want %s", l.Jobs[i].ID, f.column, f.got, w[f.column])
						}
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d of the columns of %d jobs are wrong", wrong, len(l.Jobs))
			}
		})
	}
}

// goldenMethods gives the reference's name of each simple method.
var goldenMethods = map[string]string{
	MethodNone: "nobody waits", MethodLast: "last 100 of the class", MethodLimits: "limits forward",
	MethodPredicted: "predicted forward", MethodLimitsR: "limits forward, residuals", MethodPredictR: "predicted forward, residuals",
}

// TestScoresGolden holds the scores of the simple methods against a second program.
func TestScoresGolden(t *testing.T) {
	if golden.Short() {
		t.Skip("whole logs take long under the race detector")
	}
	for _, name := range []string{"curie-a", "kth"} {
		t.Run(name, func(t *testing.T) {
			l := goldenLog(t, name)
			text, err := os.ReadFile(shared + "golden/calibration/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				ETA struct {
					All    map[string]map[string]float64 `json:"all"`
					Waited map[string]map[string]float64 `json:"waited_over_60_s"`
				} `json:"eta"`
			}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			r, _ := replays(t, l)
			for _, pair := range l.Baselines(r) {
				for _, set := range []struct {
					name string
					got  Score
					want map[string]float64
				}{{"all", pair.All, want.ETA.All[goldenMethods[pair.Method]]}, {"waited", pair.Waited, want.ETA.Waited[goldenMethods[pair.Method]]}} {
					got := scoreMap(t, set.got)
					if len(set.want) < 8 {
						t.Fatalf("%s: the reference has %d figures", pair.Method, len(set.want))
					}
					for k, v := range set.want {
						within := 1e-5 + 1e-6*math.Abs(v)
						if k == "cover80" {
							within = 1e-3 // a corrected estimate equals the wait it came from but for the last bit
						}
						if math.Abs(got[k]-v) > within {
							t.Errorf("%s, %s: %s is %g, want %g", pair.Method, set.name, k, got[k], v)
						}
					}
				}
			}
		})
	}
}

// scoreMap returns the figures of a score by their names in documents.
func scoreMap(t testing.TB, s Score) map[string]float64 {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]float64
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPredictBeatsTheSimpleMethods holds our own estimates against the best of the simple methods
// on each reference log, for all jobs and for those that waited over a minute.
func TestPredictBeatsTheSimpleMethods(t *testing.T) {
	if golden.Short() {
		t.Skip("whole logs take long under the race detector")
	}
	for _, c := range []struct {
		log                            string
		mae, brier, interval           float64 // the best of the simple methods
		waitedBrier, waitedInterval    float64
		coverFrom, coverTo, waitedFrom float64
	}{
		{"curie-a", 0.409069, 0.124259, 2.641975, 0.281941, 5.468276, 0.75, 0.88, 0.72},
		{"kth", 0.731425, 0.166376, 2.828473, 0.226219, 3.156634, 0.75, 0.85, 0.75},
	} {
		t.Run(c.log, func(t *testing.T) {
			if golden.Short() {
				t.Skip("half a minute")
			}
			l := goldenLog(t, c.log)
			f, err := Predict(t.Context(), l, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := l.Rate("own", f.Estimates)
			for _, m := range []struct {
				name      string
				got, most float64
			}{
				{"mae_log10", s.All.MAE, c.mae},
				{"brier_1h", s.All.Brier, c.brier},
				{"interval_score", *s.All.Interval, c.interval},
				{"brier_1h, waited", s.Waited.Brier, c.waitedBrier},
				{"interval_score, waited", *s.Waited.Interval, c.waitedInterval},
				{"cover80", *s.All.Cover, c.coverTo},
				{"cover80, waited", *s.Waited.Cover, 0.85},
			} {
				if m.got >= m.most {
					t.Errorf("%s is %.4f, want below %.4f", m.name, m.got, m.most)
				}
			}
			if *s.All.Cover < c.coverFrom || *s.Waited.Cover < c.waitedFrom {
				t.Errorf("ranges hold %.3f of the jobs and %.3f of those that waited, want %.2f and %.2f or more", *s.All.Cover, *s.Waited.Cover, c.coverFrom, c.waitedFrom)
			}
		})
	}
}
