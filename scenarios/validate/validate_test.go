package validate

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/profile/logs/trace"
)

func openFile(name string) (trace.Input, io.Closer, error) {
	f, err := os.Open(name)
	return trace.Input{Name: name, R: f}, f, err
}

// openText returns an opener of texts by name.
func openText(texts map[string]string) trace.Opener {
	return func(name string) (trace.Input, io.Closer, error) {
		text, ok := texts[name]
		if !ok {
			return trace.Input{}, nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return trace.Input{Name: name, R: strings.NewReader(text)}, io.NopCloser(nil), nil
	}
}

// goldenRequest is the request that a user would make of a log of the reference.
func goldenRequest(t *testing.T, name string, units int64) Request {
	t.Helper()
	const data = "../../../shared/data/"
	r := Request{WarmUp: AutoWarmUp, Capacity: units, Log: filepath.Join(golden, name+".jobs.csv.gz"), Read: trace.Options{Map: map[string]string{"job_id": "job", "limit_s": "limit"}}}
	switch name {
	case "curie-a":
		r.Log, r.Read.Map["gpus"] = data+"calibration/curie-hybrid-2012.csv.gz", "nodes"
	case "kth":
		r.Log, r.Read.Map = data+"swf/KTH-SP2-1996-2.1-cln.swf.gz", nil
	case "openb":
		r.Log, r.Read.Map, r.Capacity = data+"openb/openb_pod_list_default.csv.gz", nil, units/1000
	}
	if _, err := os.Stat(r.Log); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is absent", r.Log)
	}
	return r
}

// TestValidateEqualsTheReference holds the whole answer, from the file to the groups, against the
// reference.
func TestValidateEqualsTheReference(t *testing.T) {
	for _, name := range goldenLogs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, jobs := goldenCase(t, name)
			r, err := Validate(t.Context(), goldenRequest(t, name, a.Units), openFile, func(string) {}, func(int64) {})
			if err != nil {
				t.Fatal(err)
			}
			if r.Jobs != a.Jobs || r.TooLarge != a.TooLarge || r.HighestUse != a.Highest || r.WarmUp != capcli.Seconds(a.WarmDays)*day {
				t.Errorf("%d jobs, %d too large, highest use %d, warm-up %s; want %d, %d, %d, %d days", r.Jobs, r.TooLarge, r.HighestUse, r.WarmUp, a.Jobs, a.TooLarge, a.Highest, a.WarmDays)
			}
			checkFidelity(t, "easy", r.Fidelity, a.Replay["easy"])
			checkFidelity(t, "limit = run", r.LimitsRuns, a.Replay["easy, limit = run"])
			for i, with := range []string{"outages", "overtaken", "overtaken, outages", "overtaken, outages of two tenants"} {
				checkFidelity(t, with, r.Explanations[i].Fidelity, a.Explained[with])
			}
			checkFloor(t, r, a)
			checkRows(t, r, jobs)
			if name != "openb" { // there the reference names tenants by numbers of its own
				checkGroups(t, "tenant", r.Tenants, a.ByTenant)
			}
			checkGroups(t, "size", r.Sizes, a.BySize)
			checkGroups(t, "week", r.Weeks, a.ByWeek)
			for i, w := range a.Wrong[:min(len(a.Wrong), len(r.Wrong))] {
				if got := r.Wrong[i]; name != "openb" && (got.Week != w.Week || got.Recorded != w.Recorded || got.Simulated != w.Simulated) {
					t.Errorf("most wrong %d: %+v, want %+v", i, got, w)
				}
			}
		})
	}
}

// checkFloor compares the floor, which chance makes, to a factor of two.
func checkFloor(t *testing.T, r *Result, a *goldenAnswer) {
	t.Helper()
	const least = 0.004 // below this a single job decides
	for name, got := range map[string]float64{"qdist": r.Floor.Distance, "mae_log10": r.Floor.Error, "brier_1h": r.Floor.Brier} {
		want := a.Floor[name]
		if math.Max(got, want) > least && (got > 2*want+least || want > 2*got+least) {
			t.Errorf("floor of %s is %.4f, want about %.4f", name, got, want)
		}
	}
}

// checkRows compares the table of jobs. Its instants count from the first submission.
func checkRows(t *testing.T, r *Result, jobs map[string]goldenJob) {
	t.Helper()
	for _, row := range r.Rows() {
		id := row.ID
		if n := strings.TrimLeft(strings.TrimPrefix(id, "openb-pod-"), "0"); n != "" {
			id = n
		} else {
			id = "0"
		}
		want, ok := jobs[id]
		if !ok {
			t.Fatalf("job %s is not in the reference", row.ID)
		}
		if row.Simulated != capcli.Seconds(want.easy)-capcli.Seconds(r.First)+unixStart(r) || row.Fits != want.fits || row.By != want.by {
			t.Fatalf("job %s starts at %d, fits %d s, overtaken by %d; want %d, %d, %d", row.ID, row.Simulated, row.Fits, row.By, want.easy, want.fits, want.by)
		}
	}
}

// unixStart is the zero of the log's own times: the reference counts from it.
func unixStart(r *Result) capcli.Seconds {
	if strings.Contains(r.Input, "KTH") {
		return 843480031 // UnixStartTime of its header
	}
	return 0
}

func checkGroups(t *testing.T, what string, got []Group, want map[string]map[string]float64) {
	t.Helper()
	n := 0
	for _, g := range got {
		w, ok := want[g.Name]
		if !ok {
			t.Errorf("%s %s is not in the reference", what, g.Name)
			continue
		}
		n++
		checkFidelity(t, what+" "+g.Name, g.Fidelity, w)
	}
	for _, w := range want {
		if w == nil {
			n++
		}
	}
	if n != len(want) {
		t.Errorf("%d groups by %s, want %d", n, what, len(want))
	}
}

// oneGPU is a log of one GPU: b waits for a, and c for b.
const oneGPU = `job_id,tenant,gpus,submit,start,end,limit_s
a,x,1,1000,1000,2000,1000
b,y,1,1100,2000,5000,4000
c,x,1,1200,5000,9000,4000
`

func TestVerdicts(t *testing.T) {
	later := strings.Replace(oneGPU, "c,x,1,1200,5000,9000", "c,x,1,1200,905000,909000", 1)
	tests := []struct {
		name, log string
		capacity  int64
		want      Verdict
		p95       capcli.Seconds
	}{
		{"what EASY does", oneGPU, 1, atFloor, 3800},
		{"a held job", later, 1, Off, 3800},
		{"more than enough", later, 9, notQueued, 0},
	}
	for _, tt := range tests {
		r, err := Validate(t.Context(), Request{Log: "log.csv", Capacity: tt.capacity, WarmUp: AutoWarmUp}, openText(map[string]string{"log.csv": tt.log}), func(string) {}, func(int64) {})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != tt.want || r.Simulated.P95 != tt.p95 {
			t.Errorf("%s: %q (%s), simulated p95 %s, want %q, %s", tt.name, r.Verdict, r.Answer, r.Simulated.P95, tt.want, tt.p95)
		}
		if b, err := json.Marshal(r); err != nil || !strings.Contains(string(b), `"floor":{"qdist":`) {
			t.Errorf("%s: %v %s", tt.name, err, b)
		}
	}
}

// The columns job and limit of a log are its ids and limits, and that is said.
func TestShortNamesOfColumns(t *testing.T) {
	texts := map[string]string{"log.csv": "job,gpus,submit,start,end,limit\n7,1,1000,1000,2000,9000\n3,1,1000,2000,2100,100\n"}
	r, err := Validate(t.Context(), Request{Log: "log.csv", Capacity: 1, WarmUp: AutoWarmUp}, openText(texts), func(string) {}, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	if rows := r.Rows(); rows[0].ID != "3" || rows[0].Simulated != 0 || rows[1].ID != "7" || !strings.Contains(strings.Join(r.Notes, "; "), "column limit read as limit_s") {
		t.Errorf("rows %+v, notes %q: want job 3 first, and a note on the column limit", rows, r.Notes)
	}
}

func TestJobsThatCannotBeReplayed(t *testing.T) {
	tests := []struct{ name, log, want string }{
		{"no starts", "job_id,gpus,submit,run_s\na,1,1000,5\n", "no job has a recorded start"},
		{"all too large", "job_id,gpus,submit,start,end\na,4,1000,1000,2000\n", "each of the 1 jobs is larger than the capacity of 2 GPUs"},
		{"limits that are no numbers", "job,gpus,submit,start,end,limit\na,1,1000,1000,2000,x\n", "limit_s: not a number"},
		{"nothing held", "job_id,gpus,submit,start,end\na,0,1000,1000,2000\n", "says what it held"},
	}
	for _, tt := range tests {
		_, err := Validate(t.Context(), Request{Log: "log.csv", Capacity: 2, WarmUp: AutoWarmUp}, openText(map[string]string{"log.csv": tt.log}), func(string) {}, func(int64) {})
		var in *capcli.InputError
		if !errors.As(err, &in) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// Waits count from when a job was eligible, and the capacity follows its file.
func TestEligibleAndCapacityOverTime(t *testing.T) {
	log := "job_id,tenant,gpus,submit,eligible,start,end\na,x,2,1000,,1000,2000\nb,y,2,1000,1500,2500,3000\nc,y,2,1600,,3000,3100\nd,x,2,4000,,6000,6100\n"
	texts := map[string]string{"log.csv": log, "cap.csv": "time,capacity\n0,2\n3900,1\n6000,2\n"}
	r, err := Validate(t.Context(), Request{Log: "log.csv", CapacityFile: "cap.csv", WarmUp: AutoWarmUp}, openText(texts), func(string) {}, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	if r.Eligible != 1 || r.Capacity != 2 || r.CapacityFrom != "file" {
		t.Errorf("%d eligible later, capacity %d from %s", r.Eligible, r.Capacity, r.CapacityFrom)
	}
	var got []string
	for _, row := range r.Rows() {
		got = append(got, row.ID+" "+strconv.Itoa(int(row.Eligible))+" "+strconv.Itoa(int(row.Simulated))+" "+strconv.Itoa(int(row.Fits)))
	}
	if want := "a 0 0 0, b 500 1000 500, c 600 1500 500, d 3000 5000 0"; strings.Join(got, ", ") != want {
		t.Errorf("jobs %s, want %s", strings.Join(got, ", "), want)
	}
}

func TestFitIsJudgedOnTheLaterHalf(t *testing.T) {
	// A queue that passes over what does not fit, at one GPU fewer than it says.
	l := madeLog(t, 600)
	rules := rulesOf(t, "sjf")
	rules.Settings.Skip = true
	l.Capacity = 7
	starts := startsBy(t, l, rules)
	var b strings.Builder
	b.WriteString("job_id,tenant,gpus,submit,start,end,limit_s\n")
	for i, j := range l.Jobs {
		b.WriteString(strings.Join([]string{
			j.ID, j.Tenant, strconv.FormatInt(j.Units, 10), strconv.FormatInt(int64(j.Queued), 10), strconv.FormatInt(int64(starts[i]), 10),
			strconv.FormatInt(int64(starts[i])+int64(j.Run()), 10), strconv.FormatInt(int64(j.Limit), 10),
		}, ",") + "\n")
	}
	r, err := Validate(t.Context(), Request{Log: "log.csv", Capacity: 7, Fit: true}, openText(map[string]string{"log.csv": b.String()}), func(string) {}, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Fit.Chosen; c.Policy != "sjf" || !c.Skip || c.Earlier.Distance > 0.001 || c.Later.Distance > 0.05 || !r.Fit.Holds {
		t.Errorf("chose %s: %.3f on the earlier half, %.3f on the later, want sjf, passing over, that is right", c.Text(), c.Earlier.Distance, c.Later.Distance)
	}
}

// madeLog is a log of jobs that queue for eight GPUs.
func madeLog(t *testing.T, n int) *Log {
	t.Helper()
	rng := capcli.Seed(7).Stream("jobs")
	var jobs []Job
	at := capcli.Time(0)
	for i := range n {
		at += capcli.Time(rng.IntN(11_000))
		run := capcli.Seconds(600 + rng.IntN(30_000))
		jobs = append(jobs, Job{ID: strconv.Itoa(i), Tenant: strconv.Itoa(i % 4), Queued: at, Start: at, End: at + capcli.Time(run), Units: int64(1 + rng.IntN(6)), Limit: 2 * run})
	}
	return NewLog(jobs, 8)
}

func TestWriteJobs(t *testing.T) {
	var b strings.Builder
	if err := WriteJobs(&b, []JobRow{{"a,b", 1, 2, 3, 4, 5}}, func(s string) string { return s }); err != nil {
		t.Fatal(err)
	}
	if want := "job_id,eligible_s,recorded_start_s,simulated_start_s,fits_s,overtaken_by\n\"a,b\",1,2,3,4,5\n"; b.String() != want {
		t.Errorf("wrote %q, want %q", b.String(), want)
	}
}

func FuzzParseCapacity(f *testing.F) {
	for _, s := range []string{"time,capacity\n0,2\n", "sn,gpu\nn1,8\n", "", "time,gpus\n2026-01-01,5\nx,1\n", "\"", "capacity\n99999999999\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		steps, err := parseCapacity("f.csv", []byte(text))
		var in *capcli.InputError
		if err != nil {
			if !errors.As(err, &in) {
				t.Fatalf("%v is no InputError", err)
			}
			return
		}
		if highest(steps) < 1 || highest(steps) > mostCapacity {
			t.Fatalf("capacity %d", highest(steps))
		}
		for i := range steps[1:] {
			if steps[i].At > steps[i+1].At {
				t.Fatal("steps are not in order of time")
			}
		}
	})
}

// Logs of odd jobs get an answer or an error that helps, and never a figure that is no number.
func TestOddLogsGetAnAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString("job_id,tenant,partition,gpus,submit,eligible,start,end,limit_s\n")
		for i := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			submit := rapid.IntRange(0, 4000).Draw(t, "submit") * rapid.SampledFrom([]int{1, 900}).Draw(t, "scale")
			start := submit + rapid.IntRange(-5, 9000).Draw(t, "wait")
			end := start + rapid.SampledFrom([]int{0, 1, 60, 90000}).Draw(t, "run")
			row := []string{strconv.Itoa(i), rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "tenant"), "", rapid.SampledFrom([]string{"0", "0.5", "1", "4", "9"}).Draw(t, "gpus"), strconv.Itoa(max(0, submit))}
			row = append(row, rapid.SampledFrom([]string{"", strconv.Itoa(max(0, submit+100))}).Draw(t, "eligible"), strconv.Itoa(max(0, start)), strconv.Itoa(max(0, end)), rapid.SampledFrom([]string{"", "1", "5000"}).Draw(t, "limit"))
			b.WriteString(strings.Join(row, ",") + "\n")
		}
		req := Request{Log: "log.csv", Capacity: int64(rapid.IntRange(0, 6).Draw(t, "capacity")), WarmUp: AutoWarmUp, From: rapid.SampledFrom([]string{"", "", "1h"}).Draw(t, "from")}
		req.Policy = rapid.SampledFrom([]string{"easy", "fifo", "sjf", "las", "conservative"}).Draw(t, "policy")
		r, err := Validate(t.Context(), req, openText(map[string]string{"log.csv": b.String()}), func(string) {}, func(int64) {})
		if err != nil {
			var in *capcli.InputError
			var of *capcli.RequestError
			if !errors.As(err, &in) && !errors.As(err, &of) {
				t.Fatalf("%v\n%s", err, b.String())
			}
			return
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		for _, row := range r.Rows() {
			if row.Simulated < row.Eligible || row.Fits < 0 || row.Fits > row.Recorded-row.Eligible {
				t.Fatalf("job %s: %+v\n%s", row.ID, row, b.String())
			}
		}
	})
}

// The short answer equals the long one at the highest use, and widens a range by its error.
func TestOwnPast(t *testing.T) {
	texts := map[string]string{"log.csv": strings.ReplaceAll(oneGPU, "5000,9000", "7000,11000")}
	long, err := Validate(t.Context(), Request{Log: "log.csv", WarmUp: AutoWarmUp}, openText(texts), func(string) {}, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	c := &Collector{}
	in, done, err := openText(texts)("log.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer done.Close()
	r, err := trace.Open(in, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for j, err := range r.Jobs() {
		if err != nil {
			t.Fatal(err)
		}
		c.Add(&j)
	}
	short, err := HoldAgainst(t.Context(), []*Past{c.History(), {}}, rulesOf(t, "easy"))
	if err != nil {
		t.Fatal(err)
	}
	if short.Distance != long.Distance || short.Distance == 0 || short.Simulated != long.Simulated || short.Sentence != long.Sentence || short.Capacity != 1 {
		t.Errorf("short %+v, long %+v", short, long.Fidelity)
	}
	lo, hi := short.Widen(0, 3600)
	if want := 3660*short.Factor() - 60; lo != 0 || math.Abs(hi-want) > 1e-9 || short.Factor() <= 1 {
		t.Errorf("0 to 3600 s became %v to %v with a factor of %v", lo, hi, short.Factor())
	}
	if none, err := HoldAgainst(t.Context(), []*Past{{}}, rulesOf(t, "easy")); none != nil || err != nil {
		t.Errorf("a log without starts: %v, %v", none, err)
	}
}

// Where the replay is further from the waits than always guessing their median, the headline says so;
// a small error is none.
func TestHeadlineSaysWhereGuessingIsBetter(t *testing.T) {
	headline := func(recorded, simulated []capcli.Seconds) string {
		p := &OwnPast{Capacity: 8, Unit: "GPUs", From: fromUse, Policy: "easy", Fidelity: compareWaits(recorded, simulated)}
		return p.Headline()
	}
	for _, tt := range []struct {
		recorded, simulated []capcli.Seconds
		want                string
	}{
		{[]capcli.Seconds{3600, 3600, 3600}, []capcli.Seconds{0, 90000, 0}, "Do not trust the waits: on the log's own past (easy on 8 GPUs, the log's highest use) always guessing 1h00m is nearer"},
		{[]capcli.Seconds{0, 600, 36000}, []capcli.Seconds{0, 1200, 18000}, "On the log's own past (easy on 8 GPUs, the log's highest use) simulated waits are off by a factor of"},
		{[]capcli.Seconds{1, 1}, []capcli.Seconds{0, 0}, "simulated waits are those recorded: p95 0 s and 1 s."},
	} {
		if got := headline(tt.recorded, tt.simulated); !strings.Contains(got, tt.want) {
			t.Errorf("%v recorded, %v simulated: %s", tt.recorded, tt.simulated, got)
		}
	}
}
