package simulate_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/testdata/golden"
)

var deadlineDir = filepath.Join("..", "..", "shared", "golden", "elastic", "deadlines")

// deadlineRule is the policy and the settings of a rule of the golden answers.
func deadlineRule(name string) (policy string, set simulate.Settings, r simulate.Restarts) {
	policy, rest, _ := strings.Cut(name, "_")
	set = simulate.Settings{Choices: map[string]string{"late": "keep"}}
	switch policy {
	case "fifo", "sjf":
		set.Skip = rest != "strict"
		return policy, set, r
	}
	for _, word := range strings.Split(rest, "_") {
		switch word {
		case "strict", "preempt":
			set.Choices[word] = "true"
		case "last", "drop":
			set.Choices["late"] = word
		case "resume2":
			r.Classes = []simulate.RestartClass{{Restart: 2}}
		case "late", "":
		default:
			panic("unknown rule " + name)
		}
	}
	return policy, set, r
}

// deadlineEnds are what happened to the jobs of a run.
type deadlineEnds struct {
	start, end, dropped map[string]int64
}

func (d *deadlineEnds) Observe(e simulate.Event, _ *simulate.Cluster) {
	switch e.Kind {
	case simulate.Start:
		if _, again := d.start[e.Job.ID]; !again {
			d.start[e.Job.ID] = int64(e.At)
		}
	case simulate.Finish:
		d.end[e.Job.ID] = int64(e.At)
	case simulate.Drop:
		d.dropped[e.Job.ID] = int64(e.At)
	case simulate.Arrive:
		if e.Job.Refused() { // the rules drop it at once
			d.dropped[e.Job.ID] = int64(e.At)
		}
	default:
	}
}

func playDeadlines(t testing.TB, name string, gpus int, jobs []capcli.Job) (*simulate.Result, *deadlineEnds) {
	t.Helper()
	pol, set, restarts := deadlineRule(name)
	ends := &deadlineEnds{start: map[string]int64{}, end: map[string]int64{}, dropped: map[string]int64{}}
	r, err := simulate.Run(context.Background(), simulate.Config{
		List: jobs, Start: 0, Policy: mustPolicy(t, pol), Settings: set, Placement: mustPlacement(t, "count"), Restarts: restarts,
		Pools:     []simulate.Pool{{Name: "p", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: gpus}},
		Observers: []simulate.Observer{ends},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, ends
}

// TestDeadlinesSmall compares every end of every rule with the golden answers.
func TestDeadlinesSmall(t *testing.T) {
	golden.SkipLong(t)
	b, err := os.ReadFile(filepath.Join(deadlineDir, "small.json"))
	if err != nil {
		t.Skipf("golden answers are not here: %v", err)
	}
	var cases []struct {
		ID   string
		GPUs int
		Jobs []struct{ ID, Submit, GPUs, Run, Deadline int64 }

		Expect map[string]struct {
			Missed, Preemptions int64
			Start, End, Dropped map[string]int64
		}
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range cases {
		var jobs []capcli.Job
		for _, j := range c.Jobs {
			jobs = append(jobs, capcli.Job{ID: fmt.Sprint(j.ID), Submit: capcli.Time(j.Submit), GPUs: int(j.GPUs), Run: capcli.Seconds(j.Run), Deadline: capcli.Time(j.Deadline)})
		}
		slices.SortStableFunc(jobs, func(a, b capcli.Job) int { return int(a.Submit - b.Submit) })
		for name, want := range c.Expect {
			n++
			r, got := playDeadlines(t, name, c.GPUs, jobs)
			if fmt.Sprint(got.end) != fmt.Sprint(want.End) || fmt.Sprint(got.start) != fmt.Sprint(want.Start) || fmt.Sprint(got.dropped) != fmt.Sprint(want.Dropped) {
				t.Errorf("%s %s: start %v end %v dropped %v, want %v %v %v", c.ID, name, got.start, got.end, got.dropped, want.Start, want.End, want.Dropped)
			}
			if r.Jobs.Misses != want.Missed || r.Jobs.Preemptions != want.Preemptions || r.Jobs.Dropped+r.Jobs.Unplaceable != int64(len(want.Dropped)) {
				t.Errorf("%s %s: missed %d preemptions %d, want %d %d", c.ID, name, r.Jobs.Misses, r.Jobs.Preemptions, want.Missed, want.Preemptions)
			}
		}
	}
	t.Logf("%d runs of %d cases", n, len(cases))
}

// phillySLO reads the jobs with deadlines.
func phillySLO(t testing.TB) (jobs []capcli.Job) {
	t.Helper()
	for i, row := range gzipRows(t, filepath.Join("..", "..", "shared", "data", "philly", "chronus_trace_job_Philly_SLO.csv.gz")) {
		n := func(i int) int64 { v, _ := strconv.ParseInt(strings.Fields(row[i] + " ")[0], 10, 64); return v }
		if i == 0 || n(2) == 0 {
			continue
		}
		first, _, _ := strings.Cut(row[8], "-")
		due, err := strconv.ParseInt(strings.FieldsFunc(first, func(r rune) bool { return r < '0' || r > '9' })[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, capcli.Job{ID: row[0], GPUs: int(n(2)), Submit: capcli.Time(n(3)), Run: capcli.Seconds(n(6)), Deadline: capcli.Time(n(3) + due)})
	}
	slices.SortStableFunc(jobs, func(a, b capcli.Job) int {
		x, _ := strconv.Atoi(a.ID)
		y, _ := strconv.Atoi(b.ID)
		if a.Submit != b.Submit {
			return int(a.Submit - b.Submit)
		}
		return x - y
	})
	return jobs
}

// gzipRows reads a compressed CSV file, or skips the test.
func gzipRows(t testing.TB, name string) [][]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Skipf("the data are not here: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(io.Reader(z)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestDeadlinesPhilly compares 30,735 jobs with the rows of figures and the schedules.
func TestDeadlinesPhilly(t *testing.T) {
	if golden.Short() {
		t.Skip("long")
	}
	jobs := phillySLO(t)
	f, err := os.Open(filepath.Join(deadlineDir, "philly-slo.csv"))
	if err != nil {
		t.Skipf("golden answers are not here: %v", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range rows[1:] {
		t.Run(want[0]+"/"+want[1], func(t *testing.T) {
			golden.SkipPart(t, i, 5)
			if testing.Verbose() {
				t.Parallel()
			}
			gpus, _ := strconv.Atoi(want[0])
			r, ends := playDeadlines(t, want[1], gpus, jobs)
			got := []string{want[0], want[1], fmt.Sprint(r.Jobs.Read), fmt.Sprint(r.Jobs.Misses), fmt.Sprint(r.Jobs.Dropped), fmt.Sprint(r.Jobs.Finished)}
			var wait, jct, last int64
			for _, j := range jobs {
				if end, done := ends.end[j.ID]; done {
					wait += ends.start[j.ID] - int64(j.Submit)
					jct += end - int64(j.Submit)
					last = max(last, end)
				}
			}
			got = append(got, fmt.Sprint(int64(r.Jobs.Tardiness)), fmt.Sprint(wait), fmt.Sprint(jct), fmt.Sprint(r.Jobs.Preemptions), fmt.Sprint(last))
			if !slices.Equal(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
			if b, err := os.Open(filepath.Join(deadlineDir, fmt.Sprintf("philly-slo-%s-%s.csv.gz", want[1], want[0]))); err == nil {
				b.Close()
				for _, row := range gzipRows(t, b.Name())[1:] {
					if row[1] != fmt.Sprint(ends.start[row[0]]) || row[2] != fmt.Sprint(ends.end[row[0]]) {
						t.Fatalf("job %s ran %d to %d, want %s to %s", row[0], ends.start[row[0]], ends.end[row[0]], row[1], row[2])
					}
				}
			}
		})
	}
}
