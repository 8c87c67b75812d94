package simulate_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

// TestFiftyYears: a log with a time that is wrong by an age is refused, and not
// cut off in silence; work that is lost as often as it is done ends there.
func TestFiftyYears(t *testing.T) {
	const year = 366 * capcli.Day
	run := func(until capcli.Seconds, supply simulate.Supply, jobs ...capcli.Job) (*simulate.Result, error) {
		return simulate.Run(context.Background(), simulate.Config{
			Start: capcli.NoTime, Until: until, Jobs: stream(jobs), Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
			Pools: []simulate.Pool{{Name: "base", Nodes: 1, GPUsPerNode: 8, Supply: supply}},
		})
	}
	early := capcli.Job{ID: "early", GPUs: 1, Run: 10, Deadline: capcli.NoTime}
	late := capcli.Job{ID: "late", GPUs: 1, Run: 10, Submit: capcli.Time(51 * year), Deadline: capcli.NoTime}

	_, err := run(0, nil, early, late)
	var fault *capcli.InputError
	if !errors.As(err, &fault) || fault.Field != "submit" || !strings.Contains(fault.Text, "job late was submitted at 2021-") {
		t.Errorf("a job after 51 years gives %v, want a fault that names it", err)
	}
	res, err := run(year, nil, early, late)
	if err != nil || res.Endless || res.Jobs.Finished != 1 {
		t.Errorf("within a period of one year: %+v, %v; want one job finished", res, err)
	}
	long := early
	long.Run = 2 * capcli.Day
	flicker := simulate.NewHazard(1, capcli.Day/10, capcli.Day/10, 0, capcli.Seed(1).Stream("flicker"))
	res, err = run(0, flicker, long)
	if err != nil || !res.Endless || res.Jobs.Finished != 0 || res.Jobs.Losses < 1000 {
		t.Errorf("a job that is always lost: %+v, %v; want a run that says it has no end", res, err)
	}
}
