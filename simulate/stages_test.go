package simulate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

// life is a story of a run: starts (+), ends (-), losses of GPUs (~) and drops (x) of jobs, with times.
type life struct{ told []string }

func (l *life) Observe(e simulate.Event, _ *simulate.Cluster) {
	if mark, is := map[simulate.Kind]string{simulate.Start: "+", simulate.Finish: "-", simulate.Preempt: "~", simulate.Drop: "x"}[e.Kind]; is {
		l.told = append(l.told, fmt.Sprintf("%s%s%d", e.Job.ID, mark, e.At))
	}
}

// staged is a job of 1 GPU with dependencies such as "ok:a any:b+5", joined by spaces; a leading ? says that
// one is enough.
func staged(id string, run capcli.Seconds, after string) capcli.Job {
	s := &capcli.Stage{}
	if s.One = strings.HasPrefix(after, "?"); s.One {
		after = after[1:]
	}
	for word := range strings.FieldsSeq(after) {
		when, name, _ := strings.Cut(word, ":")
		var delay capcli.Seconds
		if at := strings.IndexByte(name, '+'); at >= 0 {
			_, _ = fmt.Sscan(name[at+1:], &delay)
			name = name[:at]
		}
		kinds := []string{"ok", "any", "not", "start", "some"}
		s.After = append(s.After, capcli.After{ID: name, When: capcli.AfterWhen(slices.Index(kinds, when)), Delay: delay})
	}
	return capcli.Job{ID: id, GPUs: 1, Run: run, Stage: s, Deadline: capcli.NoTime}
}

func playStages(t *testing.T, gpus int, change func(*simulate.Config), jobs ...capcli.Job) (string, *simulate.Result) {
	t.Helper()
	l := &life{}
	cfg := simulate.Config{
		List: jobs, Start: 0, Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
		Pools:     []simulate.Pool{{Name: "p", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: gpus}},
		Observers: []simulate.Observer{l},
	}
	if change != nil {
		change(&cfg)
	}
	r, err := simulate.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(l.told, " "), r
}

func failing(j capcli.Job, tries, retries int) capcli.Job {
	j.Stage.FailTries, j.Stage.Retries = tries, retries
	return j
}

// TestStageStories tells what dependencies do, one story each.
func TestStageStories(t *testing.T) {
	fails := func(id string, run capcli.Seconds) capcli.Job { return failing(staged(id, run, ""), 1, 0) }
	late := func(j capcli.Job, submit capcli.Time) capcli.Job { j.Submit = submit; return j }
	step := func(j capcli.Job) capcli.Job { j.GPUs = 0; return j }
	wide := func(j capcli.Job) capcli.Job { j.GPUs = 9; return j }
	for _, c := range []struct {
		name string
		jobs []capcli.Job
		want string
	}{
		{"a chain", []capcli.Job{staged("a", 3, ""), staged("b", 2, "ok:a"), staged("c", 1, "ok:b")}, "a+0 a-3 b+3 b-5 c+5 c-6"},
		{"a dependency on a later job", []capcli.Job{staged("b", 2, "ok:a"), late(staged("a", 3, ""), 4)}, "a+4 a-7 b+7 b-9"},
		{"a failure cancels all that wait for it to end well", []capcli.Job{fails("a", 3), staged("b", 2, "ok:a"), staged("c", 1, "ok:b"), staged("d", 1, "any:a")}, "a+0 a-3 bx3 cx3 d+3 d-4"},
		{"one waits for the failure", []capcli.Job{fails("a", 3), staged("b", 2, "not:a")}, "a+0 a-3 b+3 b-5"},
		{"and is cancelled without it", []capcli.Job{staged("a", 3, ""), staged("b", 2, "not:a")}, "a+0 a-3 bx3"},
		{"a cancelled job has ended, not well", []capcli.Job{fails("a", 3), staged("b", 2, "ok:a"), staged("c", 1, "not:b"), staged("d", 1, "start:b")}, "a+0 a-3 bx3 c+3 d+3 c-4 d-4"},
		{"a start is enough", []capcli.Job{staged("a", 3, ""), staged("b", 2, "start:a")}, "a+0 b+0 b-2 a-3"},
		{"a delay", []capcli.Job{staged("a", 3, ""), staged("b", 2, "ok:a+5")}, "a+0 a-3 b+8 b-10"},
		{"one of several", []capcli.Job{staged("a", 3, ""), staged("b", 5, ""), staged("c", 1, "?ok:a ok:b")}, "a+0 b+0 a-3 c+3 c-4 b-5"},
		{"one of several, of which one fails", []capcli.Job{fails("a", 3), staged("b", 5, ""), staged("c", 1, "?ok:a ok:b")}, "a+0 b+0 a-3 b-5 c+5 c-6"},
		{"none of several", []capcli.Job{fails("a", 3), fails("b", 5), staged("c", 1, "?ok:a ok:b")}, "a+0 b+0 a-3 b-5 cx5"},
		{"some of several", []capcli.Job{fails("a", 3), staged("b", 2, ""), staged("c", 1, "some:a some:b")}, "a+0 b+0 b-2 a-3 c+3 c-4"},
		{"some of several, all of which fail", []capcli.Job{fails("a", 3), fails("b", 2), staged("c", 1, "some:a some:b")}, "a+0 b+0 b-2 a-3 cx3"},
		{"a job that is not there counts as ended", []capcli.Job{staged("a", 3, "ok:gone")}, "a+0 a-3"},
		{"two tries fail, the third does not", []capcli.Job{failing(staged("a", 3, ""), 2, 2), staged("b", 1, "ok:a")}, "a+0 a~3 a+3 a~6 a+6 a-9 b+9 b-10"},
		{"three tries fail, two are allowed", []capcli.Job{failing(staged("a", 3, ""), 3, 2), staged("b", 1, "ok:a")}, "a+0 a~3 a+3 a~6 a+6 a-9 bx9"},
		{"a step without GPUs takes its time", []capcli.Job{step(staged("a", 3, "")), staged("b", 1, "ok:a"), step(staged("c", 4, "ok:b")), staged("d", 1, "ok:c")}, "b+3 b-4 d+8 d-9"},
		{"a job that can never run has not ended well", []capcli.Job{wide(staged("a", 3, "")), staged("b", 1, "ok:a"), staged("c", 1, "any:a")}, "bx0 c+0 c-1"},
		{"tasks of an array", []capcli.Job{staged("7_0", 3, ""), staged("7_1", 5, ""), staged("b", 1, "ok:7")}, "7_0+0 7_1+0 7_0-3 7_1-5 b+5 b-6"},
		{"submitted after its dependency has ended", []capcli.Job{staged("a", 1, ""), late(staged("b", 1, "ok:a"), 5)}, "a+0 a-1 b+5 b-6"},
	} {
		got, r := playStages(t, 2, nil, c.jobs...)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if j := &r.Jobs; j.Read != int64(len(c.jobs)) || j.Waiting != 0 {
			t.Errorf("%s: %+v", c.name, *j)
		}
	}
}

// TestStageFigures counts waits from readiness, and says what was held and lost.
func TestStageFigures(t *testing.T) {
	_, r := playStages(t, 1, nil, failing(staged("a", 100, ""), 1, 1), staged("b", 50, "ok:a"), staged("c", 10, "ok:a"))
	s := r.Stages
	if r.Wait.Mean != (0+0+50)/3. || s.HeldTime.Mean != 200 || s.Dependent != 2 || s.Retries != 1 || s.Spoilt != 100*capcli.GPUSecond || r.Redone != 100*capcli.GPUSecond || r.Goodput != 160*capcli.GPUSecond {
		t.Errorf("waits %v, stages %+v, redone %d, goodput %d", r.Wait.Mean, *s, r.Redone, r.Goodput)
	}
	// The period ends while the second stage is held: its work is unserved, as much of it as could have been done.
	_, r = playStages(t, 1, func(c *simulate.Config) { c.Until = 150 }, failing(staged("x", 100, ""), 0, 0), staged("a", 100, ""), staged("b", 100, "ok:a"))
	if s = r.Stages; s.Held != 1 || r.Jobs.HeldAfter != 1 || r.Jobs.Waiting != 1 || r.Served.Unserved() != 100*capcli.GPUSecond || r.Served.Backlog != 100*capcli.GPUSecond {
		t.Errorf("held %+v, jobs %+v, served %+v", *s, r.Jobs, r.Served)
	}
}

// TestSweeps limits the trials at once and ends bad ones early.
func TestSweeps(t *testing.T) {
	trial := func(id string, s *capcli.Sweep, scores ...float64) capcli.Job {
		j := staged(id, 100, "")
		j.Stage.Sweep, j.Stage.Scores = s, scores
		return j
	}
	two := &capcli.Sweep{Name: "s", MaxParallel: 2}
	got, _ := playStages(t, 9, nil, trial("a", two), trial("b", two), trial("c", two), staged("d", 1, "any:a any:b any:c"))
	if want := "a+0 b+0 a-100 b-100 c+100 c-200 d+200 d-201"; got != want {
		t.Errorf("at most two at once: %s, want %s", got, want)
	}
	half := &capcli.Sweep{Name: "h", Stop: capcli.StopHalving, Keep: 2, Rungs: []float64{0.25, 0.5}}
	got, r := playStages(t, 9, nil, trial("a", half, 5, 5), trial("b", half, 9, 1), trial("c", half, 1, 9))
	// At 25: a is the only one so far; b is the worse of two; c is the best of three. At 50: a is the first, c is worse than a.
	if want := "a+0 b+0 c+0 b-25 c-50 a-100"; got != want || r.Stages.EndedEarly != 2 || r.Stages.Spared != 125*capcli.GPUSecond {
		t.Errorf("halving: %s, want %s; %+v", got, want, *r.Stages)
	}
	median := &capcli.Sweep{Name: "m", Stop: capcli.StopMedian, Grace: 2, Rungs: []float64{0.5}}
	got, r = playStages(t, 9, nil, trial("a", median, 3), trial("b", median, 5), trial("c", median, 4.5), trial("d", median, 4))
	if want := "a+0 b+0 c+0 d+0 c-50 a-100 b-100 d-100"; got != want || r.Stages.EndedEarly != 1 {
		t.Errorf("median: %s, want %s; %+v", got, want, *r.Stages)
	}
}

// TestCircles refuses jobs that wait for each other, and names them all.
func TestCircles(t *testing.T) {
	_, err := simulate.NewStages([]capcli.Job{staged("z", 1, "ok:a"), staged("a", 1, "ok:b"), staged("b", 1, "ok:c"), staged("c", 1, "any:a")})
	if err == nil || !strings.Contains(err.Error(), `"a" waits for "b" waits for "c" waits for "a"`) {
		t.Errorf("circle: %v", err)
	}
	if _, err = simulate.NewStages([]capcli.Job{staged("a", 1, "ok:a")}); err == nil || !strings.Contains(err.Error(), `itself: "a"`) {
		t.Errorf("circle of one: %v", err)
	}
}
