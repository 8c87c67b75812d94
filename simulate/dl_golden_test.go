package simulate_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

var (
	dlDir   = filepath.Join("..", "..", "shared", "golden", "dl")
	dataDir = filepath.Join("..", "..", "shared", "data")
)

// table reads a CSV file, gzip or plain, as rows of columns by name, or skips
// the test.
func table(t testing.TB, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("golden answers are not here: %v", err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		s = bufio.NewScanner(z)
	}
	s.Buffer(nil, 1<<20)
	var head []string
	var rows []map[string]string
	for s.Scan() {
		cols := strings.Split(s.Text(), ",")
		if head == nil {
			head = cols
			continue
		}
		row := map[string]string{}
		for i, c := range cols {
			row[head[i]] = c
		}
		rows = append(rows, row)
	}
	return rows
}

func num(t testing.TB, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// peer is one golden schedule: the jobs in the order in which the peer took
// them, and what it did with them.
type peer struct {
	jobs   []capcli.Job
	starts map[string]capcli.Seconds
	ends   map[string]capcli.Seconds
	queue  float64 // mean over jobs of the time not running
	jct    float64 // mean
}

// readPeer reads the columns that all golden schedules have under some name.
func readPeer(t testing.TB, file, id, gpus, queue string) peer {
	t.Helper()
	p := peer{starts: map[string]capcli.Seconds{}, ends: map[string]capcli.Seconds{}}
	rows := table(t, filepath.Join(dlDir, file))
	base := num(t, rows[0]["submit_time"])
	for _, r := range rows {
		base = min(base, num(t, r["submit_time"]))
	}
	for _, r := range rows {
		submit := num(t, r["submit_time"])
		j := capcli.Job{
			ID: r[id], Submit: capcli.Time(submit), Run: capcli.Seconds(num(t, r["duration"])),
			GPUs: int(num(t, r[gpus])), Deadline: capcli.NoTime,
		}
		p.jobs = append(p.jobs, j)
		p.starts[j.ID] = capcli.Seconds(num(t, r["start_time"]) - base)
		p.ends[j.ID] = capcli.Seconds(num(t, r["end_time"]) - base)
		p.queue += num(t, r[queue]) / float64(len(rows))
		p.jct += (num(t, r["end_time"]) - submit) / float64(len(rows))
	}
	return p
}

// watch notes starts, ends and waits.
type watch struct {
	starts, ends map[string]capcli.Seconds
	queued       float64
	jct          float64
	preempts     int
}

func (w *watch) Observe(e simulate.Event, _ *simulate.Cluster) {
	switch e.Kind {
	case simulate.Finish:
		w.starts[e.Job.ID], w.ends[e.Job.ID] = e.Job.FirstStart, e.At
		w.queued += float64(e.Job.Queued)
		w.jct += float64(e.At - e.Job.Submitted)
	case simulate.Preempt:
		w.preempts++
	default:
	}
}

// replay runs a peer's jobs on our side.
func replay(t testing.TB, cfg simulate.Config, jobs []capcli.Job) *watch {
	t.Helper()
	w := &watch{starts: map[string]capcli.Seconds{}, ends: map[string]capcli.Seconds{}}
	cfg.Start, cfg.Jobs = capcli.NoTime, stream(jobs)
	cfg.Observers = append(cfg.Observers, w)
	if _, err := simulate.Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	if len(w.ends) != len(jobs) {
		t.Fatalf("%d of %d jobs finished", len(w.ends), len(jobs))
	}
	w.queued /= float64(len(jobs))
	w.jct /= float64(len(jobs))
	return w
}

func sameStarts(t *testing.T, got map[string]capcli.Seconds, want peer) {
	t.Helper()
	differ := 0
	for _, j := range want.jobs {
		if g, w := got[j.ID], want.starts[j.ID]; g != w {
			if differ++; differ <= 5 {
				t.Errorf("job %s (%d GPUs) starts at %d, want %d", j.ID, j.GPUs, g, w)
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d starts differ", differ, len(want.jobs))
	}
}

// near checks a mean and reports the difference.
func checkNear(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	off := got/want - 1
	tolerance += 1e-9
	t.Logf("%s %.2f, want %.2f: %+.3f %% (tolerance %.1f %%)", what, got, want, 100*off, 100*tolerance)
	if off > tolerance || off < -tolerance {
		t.Errorf("%s is %.2f, want %.2f within %.1f %%", what, got, want, 100*tolerance)
	}
}

func nodes(n, gpus int) []simulate.Pool {
	return []simulate.Pool{{Name: "all", Terms: simulate.Owned, Nodes: n, GPUsPerNode: gpus}}
}

func TestHelios(t *testing.T) {
	for _, c := range []struct {
		file, id, policy string
		nodes            int
	}{
		{"helios-fifo-venus-vcvGl", "job_id", "fifo", 20},
		{"helios-sjf-venus-vcvGl", "job_id", "sjf", 20},
		{"helios-qssf-venus-vcvGl", "job_id", "qssf", 20},
		{"helios-fifo-philly11cb48-8n", "jobname", "fifo", 8},
	} {
		t.Run(c.file, func(t *testing.T) {
			want := readPeer(t, c.file+".csv.gz", c.id, "gpu_num", "queue")
			set := simulate.Settings{Perfect: true}
			if c.policy == "qssf" {
				set.Predicted = map[string]capcli.Seconds{}
				for _, r := range table(t, filepath.Join(dataDir, "helios", "Venus_Sept_lgb.csv.gz")) {
					set.Predicted[r["job_id"]] = capcli.Seconds(num(t, r["priority"]))
				}
			}
			got := replay(t, simulate.Config{
				Pools: nodes(c.nodes, 8), Policy: mustPolicy(t, c.policy), Settings: set, Placement: mustPlacement(t, "consolidate"),
			}, want.jobs)
			sameStarts(t, got.starts, want)
			checkNear(t, "mean queue", got.queued, want.queue, 0)
			checkNear(t, "mean JCT", got.jct, want.jct, 0)
		})
	}
}

// A job of Helios' SRTF ends a second late (rule 9): it checks what is left
// before it counts down. A second more work says the same.
func TestHeliosSRTF(t *testing.T) {
	for _, c := range []struct {
		file, id string
		nodes    int
	}{
		{"helios-srtf-venus-vcvGl", "job_id", 20},
		{"helios-srtf-philly11cb48-8n", "jobname", 8},
	} {
		t.Run(c.file, func(t *testing.T) {
			want := readPeer(t, c.file+".csv.gz", c.id, "gpu_num", "queue")
			jobs := slices.Clone(want.jobs)
			for i := range jobs {
				jobs[i].Run++
			}
			got := replay(t, simulate.Config{
				Pools: nodes(c.nodes, 8), Policy: mustPolicy(t, "srtf"), Settings: simulate.Settings{Perfect: true}, Placement: mustPlacement(t, "consolidate"),
				Restarts: simulate.Restarts{Classes: []simulate.RestartClass{{MaxGPUs: 1, Restart: 7}, {MaxGPUs: 8, Restart: 30}, {Restart: 60}}},
			}, jobs)
			t.Logf("%d preemptions", got.preempts)
			checkNear(t, "mean queue", got.queued, want.queue, 0.02)
			checkNear(t, "mean JCT", got.jct, want.jct, 0.02)
		})
	}
}

func TestTiresias(t *testing.T) {
	free := simulate.Settings{Perfect: true}
	for _, c := range []struct {
		file, policy string
		set          simulate.Settings
		tolerance    float64 // 0: every start equal
	}{
		{"tiresias-fifo", "fifo", free, 0},
		{"tiresias-fjf", "fifo", simulate.Settings{Skip: true}, 0},
		{"tiresias-shortest", "srtf", free, 0.01},
		{"tiresias-shortest-gpu", "srtf", simulate.Settings{Perfect: true, ByGPUs: true}, 0.01},
		{"tiresias-dlas-gpu", "las", free, 0.02},
	} {
		t.Run(c.file, func(t *testing.T) {
			want := readPeer(t, c.file+"-count-vcvGl.csv.gz", "job_id", "num_gpu", "pending_time")
			slices.SortFunc(want.jobs, func(a, b capcli.Job) int {
				return int(num(t, a.ID)) - int(num(t, b.ID))
			})
			got := replay(t, simulate.Config{
				Pools: nodes(20, 8), Policy: mustPolicy(t, c.policy), Settings: c.set, Placement: mustPlacement(t, "count"),
			}, want.jobs)
			if c.tolerance == 0 {
				sameStarts(t, got.starts, want)
			}
			t.Logf("%d preemptions", got.preempts)
			checkNear(t, "mean queue", got.queued, want.queue, c.tolerance)
			checkNear(t, "mean JCT", got.jct, want.jct, c.tolerance)
		})
	}
}

func TestLucidTiresias(t *testing.T) {
	want := readPeer(t, "lucid-tiresias-venus-vcvGl.csv.gz", "job_id", "gpu_num", "queue")
	jobs := slices.Clone(want.jobs)
	for i := range jobs {
		jobs[i].Run++ // as with their SRTF
	}
	got := replay(t, simulate.Config{
		Pools: nodes(20, 8), Policy: mustPolicy(t, "las"), Placement: mustPlacement(t, "consolidate"),
		Settings: simulate.Settings{Limits: []capcli.GPUTime{18000 * capcli.GPUSecond}, Round: 60, BySubmit: true},
		Restarts: simulate.Restarts{Classes: []simulate.RestartClass{{MaxGPUs: 8, Restart: 40}, {Restart: 60}}},
	}, jobs)
	t.Logf("%d preemptions", got.preempts)
	checkNear(t, "mean queue", got.queued, want.queue, 0.02)
	checkNear(t, "mean JCT", got.jct, want.jct, 0.02)
}

// Their "FIFO" passes over what does not fit (rule 2), in order of submission
// and job number (rule 4); a job of no length is lifted to a second (rule 8).
func TestAlibaba2020(t *testing.T) {
	gpus := map[string]int{}
	for _, r := range table(t, filepath.Join(dataDir, "alibaba", "philly5d_alibaba_schema.csv.gz")) {
		gpus[r["job_id"]] = int(num(t, r["num_gpu"]))
	}
	want := peer{starts: map[string]capcli.Seconds{}}
	rows := table(t, filepath.Join(dlDir, "alibaba2020-philly5d-fifo-1n128g.csv.gz"))
	for _, r := range rows {
		j := capcli.Job{
			ID: r["job_id"], Submit: capcli.Time(num(t, r["submit_time"])), Run: capcli.Seconds(num(t, r["duration"])),
			GPUs: gpus[r["job_id"]], Deadline: capcli.NoTime,
		}
		want.jobs = append(want.jobs, j)
		want.starts[j.ID] = capcli.Seconds(num(t, r["start_time"]))
		want.jct += num(t, r["jct"]) / float64(len(rows))
	}
	slices.SortFunc(want.jobs, func(a, b capcli.Job) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(num(t, a.ID), num(t, b.ID)))
	})
	got := replay(t, simulate.Config{
		Pools: nodes(1, 128), Policy: mustPolicy(t, "fifo"), Settings: simulate.Settings{Skip: true}, Placement: mustPlacement(t, "count"),
	}, want.jobs)
	sameStarts(t, got.starts, want)
	checkNear(t, "mean JCT", got.jct, want.jct, 0)
}
