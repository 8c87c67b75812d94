package profile_test

import (
	"math"
	"testing"
	"time"

	"capcli/profile"
)

// worked is a job of one H100 that used so much memory, SMs and DRAM bandwidth for a
// minute, and was idle for another.
func worked(change func(t *profile.Tick), model string, total, gib, sm, dram float64) *profile.JobUse {
	z := profile.NewSummarizer(nil)
	d := &profile.Device{UUID: "G", Model: model, GI: -1}
	for i := range 120 {
		t := profile.Tick{At: start.Add(time.Duration(i) * time.Second), Every: time.Second, LookedAtProcesses: true}
		s := t.NextSample(d)
		s.Set(profile.MemUsed, gib*(1<<30))
		s.Set(profile.MemTotal, total*(1<<30))
		s.Set(profile.SMActive, 0)
		s.Set(profile.DRAMActive, 0)
		if i%2 == 0 {
			s.Set(profile.SMActive, sm)
			s.Set(profile.DRAMActive, dram)
		}
		t.Processes = []profile.Process{{Device: d, User: "u", PID: 1, Command: "python train.py"}}
		if change != nil {
			change(&t)
		}
		z.Add("box", &t)
	}
	return z.Summary().Jobs[0]
}

const h100 = "NVIDIA H100 80GB HBM3"

func TestFits(t *testing.T) {
	for _, c := range []struct {
		name          string
		gib, sm, dram float64 // at most; the GPU has 80 GiB
		slice, model  string
		binds         profile.Resource
		milli         int
		share         float64
	}{
		// An eighth of 80 GiB less a tenth is 9: 8 GiB and a tenth go in, 8.5 do not.
		{"tiny", 8, 5, 5, "1g.10gb", "T4", profile.Memory, 150, 1. / 7},
		{"memory of two eighths", 8.5, 5, 5, "1g.20gb", "T4", profile.Memory, 150, 1. / 4},
		{"SMs of two sevenths", 8, 20, 5, "2g.20gb", "L40S", profile.Compute, 200, 2. / 7},
		{"bandwidth of half", 8, 5, 40, "3g.40gb", "A100 40GB", profile.MemoryRates, 400, 1. / 2},
		{"SMs of four sevenths", 8, 50, 5, "4g.40gb", "H100 80GB PCIe", profile.Compute, 500, 4. / 7},
		{"half the memory is too much", 36, 5, 5, "", "A40", profile.Memory, 500, 0},
		{"over half the memory", 36.5, 5, 5, "", "A40", profile.Memory, 0, 0},
		{"all of it", 70, 90, 50, "", "", profile.Memory, 0, 0},
		{"all the SMs", 8, 99, 5, "", "", profile.Compute, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := worked(nil, h100, 80, c.gib, c.sm, c.dram).Fits()
			slice, model, binds, share := "", "", f.Binds, 0.0
			if f.Model != nil {
				model, binds = f.Model.Model, f.Model.Binds
			}
			if f.Slice != nil {
				slice, binds, share = f.Slice.Slice, f.Slice.Binds, f.Slice.Share
			}
			if f.Why != "" || slice != c.slice || model != c.model || binds != c.binds || share != c.share {
				t.Errorf("got %q, %q, %s, %g (%s), want %q, %q, %s, %g", slice, model, binds, share, f.Why, c.slice, c.model, c.binds, c.share)
			}
			if f.Milli != c.milli {
				t.Errorf("could share %d thousandths, want %d", f.Milli, c.milli)
			}
			if c.slice != "" && math.Abs(f.FreedHours(7)-7*(1-c.share)) > 1e-12 {
				t.Errorf("frees %g of 7 hours", f.FreedHours(7))
			}
		})
	}
}

// What cannot be told is not guessed.
func TestFitsNotTold(t *testing.T) {
	other := &profile.Device{UUID: "H", Model: h100, GI: -1}
	for _, c := range []struct {
		name   string
		change func(t *profile.Tick)
		told   bool
	}{
		{"alone", func(*profile.Tick) {}, true},
		{"several GPUs", func(t *profile.Tick) {
			t.NextSample(other).Set(profile.SMActive, 5)
			p := t.Processes[0]
			p.Device = other
			t.Processes = append(t.Processes, p)
		}, false},
		{"shared", func(t *profile.Tick) {
			t.Processes = append(t.Processes, profile.Process{Device: t.Samples[0].Device, User: "v", PID: 2})
		}, false},
		{"no memory", func(t *profile.Tick) { t.Samples[0].Miss(profile.MemTotal, profile.Unsupported) }, false},
		{"no activity", func(t *profile.Tick) { t.Samples[0].Miss(profile.SMActive, profile.Unsupported) }, false},
		{"no DRAM", func(t *profile.Tick) { t.Samples[0].Miss(profile.DRAMActive, profile.Unsupported) }, true},
		{"an instance", func(t *profile.Tick) { t.Samples[0].Device.GI = 1 }, false},
	} {
		f := worked(c.change, h100, 80, 8, 5, 5).Fits()
		if told := f.Why == ""; told != c.told || told != (f.Slice != nil) || told != (f.Milli > 0) {
			t.Errorf("%s: fits %v (%s), shares %d, want told %t", c.name, f.Slice, f.Why, f.Milli, c.told)
		}
	}
}

// A kernel that runs fills a GPU or not: the time it ran is an upper bound.
func TestFitsByUtil(t *testing.T) {
	f := worked(func(t *profile.Tick) {
		t.Samples[0].Miss(profile.SMActive, profile.Unsupported)
		t.Samples[0].Set(profile.UtilGPU, 12)
	}, h100, 80, 8, 5, 5).Fits()
	if !f.Need.ByUtil || f.Slice == nil || f.Slice.Slice != "1g.10gb" || f.Milli != 0 {
		t.Errorf("got %+v", f)
	}
}

func TestMemoryThatLooksReserved(t *testing.T) {
	vllm := func(t *profile.Tick) { t.Processes[0].Command = "vllm serve chat" }
	for _, c := range []struct {
		name   string
		change func(t *profile.Tick)
		gib    float64
		want   bool
	}{{"some", nil, 40, false}, {"nearly all, always", nil, 72, true}, {"by its name", vllm, 40, true}} {
		if got := worked(c.change, h100, 80, c.gib, 50, 50).Fits().Need.Reserved; got != c.want {
			t.Errorf("%s: reserved %t", c.name, got)
		}
	}
}

func TestModels(t *testing.T) {
	for _, c := range []struct {
		model string
		gib   float64
		want  string
	}{
		{"NVIDIA A100-SXM4-40GB", 40, "1g.5gb"},
		{"NVIDIA A100-SXM4-80GB", 80, "1g.10gb"},
		{"NVIDIA A100 80GB PCIe", 80, "1g.10gb"},
		{"NVIDIA H100 PCIe", 79.6, "1g.10gb"},
		{"NVIDIA H100 NVL", 93.6, "1g.12gb"},
		{"NVIDIA H200", 140.4, "1g.18gb"},
		{"NVIDIA B200", 179, "1g.23gb"},
		{"NVIDIA A30", 24, "1g.6gb"},
		{"NVIDIA L40S", 45, ""},
		{"NVIDIA GH200 480GB", 95, ""},
		{"NVIDIA H100 80GB HBM3", 40, ""}, // of another size than it says
	} {
		f := worked(nil, c.model, c.gib, 1, 1, 1).Fits()
		got := ""
		if f.Slice != nil {
			got = f.Slice.Slice
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.model, got, c.want)
		}
	}
	for i := range profile.GPUModels[1:] { // slices are in order of what they hold
		s := profile.GPUModels[i].Slices
		for k := 1; k < len(s); k++ {
			if s[k].Memory < s[k-1].Memory || s[k].Compute < s[k-1].Compute {
				t.Errorf("%s: %s is smaller than the one before", profile.GPUModels[i].Name, s[k].Name)
			}
		}
	}
}
