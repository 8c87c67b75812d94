package scaling_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"capcli/profile"
	"capcli/profile/scaling"
)

// record adds a job on GPUs of a box of its own to z for some minutes. It tells tokens a second, 0 is none.
func record(z *profile.Summarizer, id, tenant, command, model string, gpus, minutes int, tokens float64) {
	var devices []*profile.Device
	for i := range gpus {
		devices = append(devices, &profile.Device{Index: i, UUID: fmt.Sprintf("%s-%d", id, i), Model: model, GI: -1, CI: -1})
	}
	start := profile.InstantOf(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
	for s := range minutes * 60 {
		t := &profile.Tick{At: start.Add(time.Duration(s) * time.Second), Every: time.Second, LookedAtProcesses: s%5 == 0}
		for _, d := range devices {
			x := t.NextSample(d)
			x.Set(profile.UtilGPU, 100)
			sm := 90.0
			if math.Mod(float64(s), 8) >= 6 {
				sm = 10
			}
			x.Set(profile.SMActive, sm)
			if t.LookedAtProcesses {
				t.Processes = append(t.Processes, profile.Process{Device: d, User: tenant, Job: id, Command: command})
			}
		}
		if tokens > 0 && s%10 == 0 {
			t.Readings = append(t.Readings, profile.Reading{Owner: profile.Owner{Job: id}, Name: profile.ToldTokens, Value: tokens})
		}
		z.Add("box-"+id, t)
	}
}

const h100 = "NVIDIA H100 80GB HBM3"

func TestMeasure(t *testing.T) {
	z := profile.NewSummarizer(nil)
	record(z, "1", "nlp", "torchrun --nproc_per_node=1 /a/train.py --lr 1e-4", h100, 1, 6, 1000)
	record(z, "2", "nlp", "torchrun --nproc_per_node=2 /b/train.py --lr 3e-4", h100, 2, 6, 1900)
	record(z, "3", "nlp", "torchrun --nproc_per_node=2 /b/train.py --lr 3e-4", h100, 2, 6, 1700)
	record(z, "4", "nlp", "torchrun --nproc_per_node=4 /b/train.py --lr 3e-4", h100, 4, 6, 3200)
	record(z, "5", "nlp", "torchrun --nproc_per_node=8 /b/train.py --lr 3e-4", "NVIDIA A100-SXM4-80GB", 8, 6, 2000) // another model
	record(z, "6", "nlp", "torchrun --nproc_per_node=8 /b/train.py --lr 3e-4", h100, 8, 6, 0)                       // tells nothing
	record(z, "7", "cv", "python other.py", h100, 1, 6, 500)                                                        // once
	var ask scaling.Request
	r, err := ask.Measure(z.Summary(), []string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	const want = `gpu_model,gpus,steps_per_s,job_type,unit,runs,low,high,speedup,efficiency
H100,1,1000.00,nlp-train.py,tokens,1,996.646,1000.00,1.00000,1.00000
H100,2,1800.00,nlp-train.py,tokens,2,1700.00,1900.00,1.80000,0.900000
H100,4,3200.00,nlp-train.py,tokens,1,3200.00,3200.00,3.20000,0.800000
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	left := map[string]string{}
	for _, l := range r.Left {
		left[l.Job] = l.Why
	}
	for job, why := range map[string]string{"5": "other models of GPU", "6": "--batch", "7": "the only size"} {
		if !strings.Contains(left[job], why) {
			t.Errorf("job %s is left out because %q, want %q", job, left[job], why)
		}
	}
	if got := r.Lead(); !strings.Contains(got, "4 H100 for 1 gets 3.2 times as much done: an efficiency of 80%") {
		t.Error(got)
	}
}

func TestMeasureSteps(t *testing.T) {
	z := profile.NewSummarizer(nil)
	record(z, "1", "nlp", "train.py", h100, 1, 21, 0)
	record(z, "2", "nlp", "train.py", h100, 2, 21, 0)
	s := z.Summary()
	if _, err := (&scaling.Request{}).Measure(s, []string{"x"}); err == nil || !strings.Contains(err.Error(), "does not say how much work a step is") {
		t.Error(err)
	}
	for batch, want := range map[string]float64{scaling.SameBatch: 0.5, scaling.PerGPUBatch: 1} {
		r, err := (&scaling.Request{Batch: batch}).Measure(s, []string{"x"})
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(r.Curves[0].Points[1].Efficiency); math.Abs(got-want) > 0.01 {
			t.Errorf("--batch %s: efficiency %g, want %g", batch, got, want)
		}
	}
}

func TestRequest(t *testing.T) {
	for _, bad := range []scaling.Request{{Batch: "all"}, {Job: "[x"}} {
		if bad.Check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	z := profile.NewSummarizer(nil)
	record(z, "1", "nlp", "python a.py", h100, 1, 4, 100)
	record(z, "2", "nlp", "python b.py", h100, 2, 4, 150)
	r, err := (&scaling.Request{Job: "python*"}).Measure(z.Summary(), []string{"x"})
	if err != nil || len(r.Curves) != 1 || float64(r.Curves[0].Points[1].Efficiency) != 0.75 {
		t.Errorf("%+v, %v", r, err)
	}
}
