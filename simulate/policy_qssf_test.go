package simulate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

// TestQSSFByGPUsWhereNobodyWaits has jobs come together: they have no priority
// before somebody waits, so the fewest GPUs go first; those that come later go by
// their predictions.
func TestQSSFByGPUsWhereNobodyWaits(t *testing.T) {
	job := func(id string, submit, run, gpus int) capcli.Job {
		return capcli.Job{ID: id, Submit: capcli.Time(submit), Run: capcli.Seconds(run), GPUs: gpus, Deadline: capcli.NoTime}
	}
	var s story
	_, err := simulate.Run(context.Background(), simulate.Config{
		List:   []capcli.Job{job("wide", 0, 10, 8), job("narrow", 0, 100, 1), job("long", 5, 10, 4), job("short", 5, 10, 8)},
		Policy: mustPolicy(t, "qssf"), Placement: mustPlacement(t, "count"),
		Settings: simulate.Settings{Predicted: map[string]capcli.Seconds{"wide": 10, "narrow": 100, "long": 1000, "short": 1}},
		Pools:    []simulate.Pool{{Name: "base", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 8}}, Observers: []simulate.Observer{&s},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(s.lines, " "), "narrow@0 short@100 wide@110 long@120"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestQSSFPredictsFromHistory plays a month of Helios with nothing known of a
// job but who submitted it and its GPUs. The authors' predictions give a mean
// wait of 212 s on it, first come first served 13,891 s.
func TestQSSFPredictsFromHistory(t *testing.T) {
	want := readPeer(t, "helios-qssf-venus-vcvGl.csv.gz", "job_id", "gpu_num", "queue")
	users := heliosUsers(t)
	for i := range want.jobs {
		want.jobs[i].Tenant = users[want.jobs[i].ID]
	}
	got := replay(t, simulate.Config{
		Pools: nodes(20, 8), Policy: mustPolicy(t, "qssf"), Placement: mustPlacement(t, "consolidate"),
	}, want.jobs)
	t.Logf("mean queue %.2f, with the authors' predictions %.2f", got.queued, want.queue)
	if got.queued > 1.25*want.queue {
		t.Errorf("the mean wait is %.0f s, want at most a quarter over %.0f s", got.queued, want.queue)
	}
}

// heliosUsers reads who submitted which job from a CSV file behind a comment.
func heliosUsers(t *testing.T) map[string]string {
	b, err := os.ReadFile(filepath.Join(dataDir, "helios", "helios_venus_2vc_sept.csv"))
	if err != nil {
		t.Skipf("the log is not here: %v", err)
	}
	users := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if cols := strings.Split(line, ","); len(cols) > 2 && !strings.HasPrefix(line, "#") {
			users[cols[0]] = cols[1]
		}
	}
	return users
}
