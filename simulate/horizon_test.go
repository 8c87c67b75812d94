package simulate_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/supply"
	"capcli/testdata/golden"
)

// TestLongRuns: no job is lost in silence, however late it comes. GPU time that
// cannot be counted is refused, and work that is lost as often as it is done
// comes to an end.
func TestLongRuns(t *testing.T) {
	golden.SkipLong(t)
	const year = 366 * capcli.Day
	run := func(nodes int, until capcli.Seconds, supply simulate.Supply, jobs ...capcli.Job) (*simulate.Result, error) {
		return simulate.Run(context.Background(), simulate.Config{
			Start: capcli.NoTime, Until: until, Jobs: stream(jobs), Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
			Pools: []simulate.Pool{{Name: "base", Nodes: nodes, GPUsPerNode: 8, Supply: supply}},
		})
	}
	early := capcli.Job{ID: "early", GPUs: 1, Run: 10, Deadline: capcli.NoTime}
	late := capcli.Job{ID: "late", GPUs: 1, Run: 10, Submit: capcli.Time(200 * year), Deadline: capcli.NoTime}

	if res, err := run(1, 0, nil, early, late); err != nil || res.Jobs.Finished != 2 || res.Endless {
		t.Errorf("a job after 200 years: %+v, %v; want both finished", res, err)
	}
	if res, err := run(1, year, nil, early, late); err != nil || res.Jobs.Finished != 1 || res.Endless {
		t.Errorf("within a period of one year: %+v, %v; want one finished", res, err)
	}
	_, err := run(500_000, 0, nil, early, late)
	var fault *capcli.InputError
	if !errors.As(err, &fault) || fault.Field != "submit" || !strings.Contains(fault.Text, "job late was submitted at 2170-") {
		t.Errorf("four million GPUs for 200 years give %v, want a fault that names the job", err)
	}
	long := early
	long.Run = 2 * capcli.Day
	flicker := supply.NewHazard(1, capcli.Day/10, capcli.Day/10, 0, capcli.Seed(1).Stream("flicker"))
	res, err := run(1, 0, flicker, long)
	if err != nil || !res.Endless || res.Jobs.Finished != 0 || res.Jobs.Losses < 1000 {
		t.Errorf("a job that is always lost: %+v, %v; want a run that says it has no end", res, err)
	}
}
