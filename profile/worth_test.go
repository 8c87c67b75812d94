package profile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile/gang"
)

// gangTicks plays a synchronous job on GPUs of two boxes, a second at a time: steps of some seconds in which ranks
// compute and then wait for the slowest. From an hour on one of them is slower.
func gangTicks(z *Summarizer, hours int, slowFrom int, slow float64) {
	rng := rand.New(rand.NewPCG(7, 7))
	const step = 6.0
	for _, host := range []string{"box-1", "box-2"} {
		var devices []*Device
		for i := range 2 {
			devices = append(devices, &Device{Index: i, UUID: fmt.Sprintf("%s-%d", host, i), Model: "NVIDIA H100 80GB HBM3", GI: -1, CI: -1})
		}
		for s := range hours * 3600 {
			at := testStart.Add(10*time.Minute + time.Duration(s)*time.Second)
			t := &Tick{At: at, Every: time.Second, LookedAtProcesses: s%5 == 0}
			late := slow
			if s < slowFrom*3600 {
				late = 0
			}
			length := step * (1 + late)
			phase := math.Mod(float64(s), length)
			for i, d := range devices {
				mine := host == "box-2" && i == 1
				x := t.NextSample(d)
				x.Set(UtilGPU, 100)
				sm, clock, throttle := 90+2*rng.NormFloat64(), 1980.0, 0.0
				if end := 0.8 * step; phase >= end && !mine || phase >= end+late*step {
					sm = 6 + rng.NormFloat64() // in the collective
				}
				if mine && late > 0 {
					clock, throttle = 1500, 0x40
				}
				x.Set(SMActive, min(100, max(0, sm)))
				x.Set(TensorActive, min(100, max(0, sm/2)))
				x.Set(Power, 200+4*sm)
				x.Set(ClockSM, clock)
				x.Set(Throttle, throttle)
				x.Set(NVLinkTx, 9000)
				x.Set(MemUsed, float64(40+10*i)*(1<<30))
				x.Set(MemTotal, 80<<30)
				if t.LookedAtProcesses {
					t.Processes = append(t.Processes, Process{Device: d, PID: int64(100 + i), User: "amara", Job: "7"})
				}
			}
			if host == "box-1" && s%10 == 0 {
				t.Readings = append(t.Readings, Reading{Owner: Owner{Job: "7"}, Name: ToldTokens, Value: 24_000 / (1 + late)}, Reading{Owner: Owner{Job: "7"}, Name: ToldTFLOPS, Value: 400})
			}
			z.Add(host, t)
		}
	}
}

func TestWorth(t *testing.T) {
	z := NewSummarizer(nil)
	gangTicks(z, 8, 4, 0.3)
	price := capcli.USD(2_000_000)
	r := z.Summary().Result(nil, &price, time.UTC)
	if len(r.Jobs) != 1 {
		t.Fatalf("%d jobs", len(r.Jobs))
	}
	w := r.Jobs[0].Worth
	near := func(name string, got capcli.Figure, want, off float64) {
		t.Helper()
		if !(math.Abs(float64(got)-want) <= off) {
			t.Errorf("%s is %g, want %g", name, float64(got), want)
		}
	}
	near("tokens a second", w.Tokens.Mean, 24_000*(1+1/1.3)/2, 30)
	near("its 5th percentile", w.Tokens.P5, 24_000/1.3, 300)
	near("told share", w.Tokens.Share, 1, 0.01)
	near("tokens of a GPU-hour", w.TokensPerGPUHour, 24_000*(1+1/1.3)/2*3600/4, 10_000)
	near("MFU", w.MFU, 100*400.0/989, 0.1)
	if got := float64(*w.USDPerMTokens) / 1e6; math.Abs(got-0.1046) > 0.0005 {
		t.Errorf("a million tokens cost %g", got)
	}
	var changed []string
	for _, c := range w.Changes {
		changed = append(changed, fmt.Sprintf("%s %s %.2f", c.What, c.At[:13], float64(c.Factor)))
	}
	if got, want := strings.Join(changed, "; "), "step_s 2026-11-25T04 1.30; tokens_per_s 2026-11-25T04 0.77"; got != want {
		t.Errorf("changes %q, want %q", got, want)
	}
	s := w.Straggler
	if s == nil || s.Host != "box-2" || s.GPU != 1 || s.Cause != gang.Heat || s.From[:13] != "2026-11-25T04" {
		t.Fatalf("straggler %+v, %s", s, w.StragglerWhy)
	}
	near("share", s.Share, 0.5, 0.01)
	near("lost GPU-hours", s.Lost, 4*4*0.3/1.3, 0.5)
	if len(w.Ranks) != 4 || float64(w.Ranks[1].MemMax) != 50<<30 || float64(w.Ranks[2].MemMax) != 40<<30 {
		t.Errorf("ranks %+v", w.Ranks)
	}
	words := strings.Join(r.Notes(), "\n")
	for _, want := range []string{"job 7 waits for GPU 1 of box-2", "heat", "job 7: its steps took 6, from 2026-11-25T04:00Z on 7.8: +30%"} {
		if !strings.Contains(words, want) {
			t.Errorf("notes have no %q:\n%s", want, words)
		}
	}
}

// TestWorthOfAlikeRanks: a job whose steps stay as they are has no straggler and no changes, and its step is seen.
func TestWorthOfAlikeRanks(t *testing.T) {
	z := NewSummarizer(nil)
	gangTicks(z, 3, 99, 0)
	w := z.Summary().Result(nil, nil, time.UTC).Jobs[0].Worth
	if w.Straggler != nil || len(w.Changes) > 0 || w.StragglerWhy != "the ranks are alike within their noise" {
		t.Errorf("%+v", w)
	}
	if w.Step.Source != "samples" || math.Abs(float64(w.Step.Seconds)-6) > 0.02 || !w.Step.Sure || w.Step.Agree < w.Step.Judged*9/10 {
		t.Errorf("step %+v", w.Step)
	}
}

// TestReadingsOfNobody: where several jobs are on a box, a reading that names none is nobody's.
func TestReadingsOfNobody(t *testing.T) {
	z := NewSummarizer(nil)
	a, b := &Device{UUID: "a", GI: -1}, &Device{UUID: "b", Index: 1, GI: -1}
	for s := range 60 {
		tick := &Tick{At: testStart.Add(time.Duration(s) * time.Second), Every: time.Second, LookedAtProcesses: s == 0}
		for i, d := range []*Device{a, b} {
			tick.NextSample(d).Set(UtilGPU, 50)
			if s == 0 {
				tick.Processes = append(tick.Processes, Process{Device: d, PID: int64(i), Job: fmt.Sprint(i + 1)})
			}
		}
		tick.Readings = append(tick.Readings, Reading{Name: ToldTokens, Value: 10}, Reading{Name: ToldSamples, Value: 5, Device: b})
		z.Add("box", tick)
	}
	s := z.Summary()
	if len(s.Untold) != 1 || s.Untold[0].Name != ToldTokens {
		t.Errorf("%+v", s.Untold)
	}
	for _, j := range s.Jobs {
		r, ok := j.Samples()
		if ok != (j.ID == "2") || ok && r.Mean != 5 {
			t.Errorf("job %s tells %+v", j.ID, r)
		}
	}
	if notes := strings.Join(s.Result(nil, nil, time.UTC).Notes(), "\n"); !strings.Contains(notes, "tokens_per_s on box") {
		t.Error(notes)
	}
}
