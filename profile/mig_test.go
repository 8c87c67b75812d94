package profile_test

import (
	"math"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
	"capcli/profile/judge"
)

// migBox is a box with a whole H100 and one that MIG divides into 3g.40gb, 1g.10gb and 1g.20gb: a half,
// a seventh and a quarter of it, which leaves 9/84.
type migBox struct {
	whole, divided, half, seventh, quarter *profile.Device
	sampled                                bool // the divided GPU has samples of its own, as NVML's has
}

func newMIGBox(sampled bool) *migBox {
	part := func(uuid, name string, gi int) *profile.Device {
		return &profile.Device{Index: 1, UUID: uuid, Model: h100, Parent: "GPU-1", Profile: name, GI: gi}
	}
	return &migBox{
		&profile.Device{Index: 0, UUID: "GPU-0", Model: h100, GI: -1, CI: -1}, &profile.Device{Index: 1, UUID: "GPU-1", Model: h100, GI: -1, CI: -1},
		part("MIG-a", "3g.40gb", 1), part("MIG-b", "1g.10gb", 9), part("MIG-c", "1g.20gb", 7), sampled,
	}
}

// tick is what the box does at a second: a job on the whole GPU and one on the half work, one on the
// seventh is idle. Power is only of whole GPUs, which sources that do not sample them repeat.
func (b *migBox) tick(i int) *profile.Tick {
	t := &profile.Tick{At: start.Add(time.Duration(i) * time.Second), Every: time.Second, LookedAtProcesses: true}
	s := t.NextSample(b.whole)
	s.Set(profile.SMActive, 50)
	s.Set(profile.UtilGPU, 100)
	s.Set(profile.Power, 400)
	s.Set(profile.MemUsed, 40<<30)
	s.Set(profile.MemTotal, 80<<30)
	if b.sampled {
		s = t.NextSample(b.divided)
		s.Set(profile.Power, 300)
		s.Set(profile.MemUsed, 50<<30)
		s.Set(profile.MemTotal, 80<<30)
		s.Set(profile.SMActive, 40)
	}
	for _, x := range []struct {
		d             *profile.Device
		sm, used, all float64
	}{{b.half, 80, 8, 39.5}, {b.seventh, 0, 1, 9.75}, {b.quarter, 0, 0, 19.6}} {
		s := t.NextSample(x.d)
		s.Set(profile.SMActive, x.sm)
		s.Set(profile.DRAMActive, 10)
		s.Set(profile.MemUsed, x.used*(1<<30))
		s.Set(profile.MemTotal, x.all*(1<<30))
		if !b.sampled {
			s.Set(profile.Power, 300)
		}
	}
	hold := func(d *profile.Device, id string) {
		t.Processes = append(t.Processes, profile.Process{Device: d, Job: id, User: "u-" + id, Command: "python"})
	}
	hold(b.whole, "big")
	hold(b.half, "half")
	hold(b.seventh, "idle")
	if b.sampled {
		hold(b.divided, "half") // as a source that does not know the instance of a process
	}
	return t
}

func (b *migBox) summary(seconds int) *profile.Result {
	z := profile.NewSummarizer(nil)
	for i := range seconds {
		z.Add("box", b.tick(i))
	}
	price := capcli.USD(2_000_000) // micro-dollars
	return z.Summary().Result([]string{"box"}, &price, time.UTC)
}

// TestInstancesAreSharesOfGPUs: an instance counts as its share of a GPU, a divided GPU only as what no
// instance has, and its power once, whether the source samples the divided GPU or not.
func TestInstancesAreSharesOfGPUs(t *testing.T) {
	for _, sampled := range []bool{true, false} {
		r := newMIGBox(sampled).summary(3600)
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-9*max(1, want) && what != "idle cost" || math.Abs(got-want) > 1e-6 {
				t.Errorf("sampled %t: %s is %v, want %v", sampled, what, got, want)
			}
		}
		near("total seen", float64(r.Total.Seen), 2)
		near("total held", float64(r.Total.Held), 1+1./2+1./7)
		near("total idle", float64(r.Total.Idle), 1./7)
		near("total energy", float64(r.Total.Energy), 0.7)
		near("idle cost", r.Total.IdleCost.Float(), 2./7)
		near("mean SM", float64(r.Total.SM), (50+80./2)/(1+1./2+1./7+1./4)) // of what told it
		rows := map[string]profile.GPUResult{}
		for _, g := range r.GPUs {
			rows[g.UUID] = g
		}
		if len(rows) != 5 || len(r.GPUs) != 5 {
			t.Fatalf("%d rows", len(r.GPUs))
		}
		rest := rows["GPU-1"]
		near("share of the rest", float64(rest.Share), 9./84)
		near("rest held", float64(rest.Held), 0)
		near("rest energy", float64(rest.Energy), 0.3)
		if !rest.Divided || rest.Verdict != judge.Free || len(rest.Jobs) != 0 {
			t.Errorf("the divided GPU: %+v", rest)
		}
		near("half held", float64(rows["MIG-a"].Held), 0.5)
		near("SM of the half", float64(rows["MIG-a"].SM), 80)
		if v := rows["MIG-b"].Verdict; v != judge.NeverBusy {
			t.Errorf("the seventh is %s", v)
		}
		if rows["MIG-a"].Energy.IsKnown() {
			t.Error("an instance has no energy of its own")
		}
		shares := map[string]float64{"big": 1, "half": 0.5, "idle": 1. / 7}
		for _, j := range r.Jobs {
			near(j.ID+" held", float64(j.Held), shares[j.ID])
			near(j.ID+" share", float64(j.Share), shares[j.ID])
			if j.GPUs != 1 {
				t.Errorf("%s holds %d devices", j.ID, j.GPUs)
			}
		}
		for _, x := range r.Tenants {
			near(x.Tenant, float64(x.Held), shares[x.Tenant[2:]])
		}
		near("hour of the week", float64(r.Hours[0].Held), (1+1./2+1./7)/2)
		near("span", r.Span().Seconds(), 3600)
		if lead := r.Lead(); lead[:45] != "2 GPUs, 1 of them divided into 3 MIG instance" {
			t.Errorf("lead: %s", lead)
		}
		milli := map[string]int{"big": 0, "half": 500, "idle": 142}
		jobs, _ := r.Summary.Record(false)
		for _, j := range jobs {
			if j.GPUs != 1 || j.GPUMilli != milli[j.ID] {
				t.Errorf("%s asks for %d GPUs, %d thousandths", j.ID, j.GPUs, j.GPUMilli)
			}
		}
	}
}

// TestFitsOfInstances: a job on an instance may fit a smaller one, and frees what that is less.
func TestFitsOfInstances(t *testing.T) {
	r := newMIGBox(true).summary(120)
	for _, j := range r.Jobs {
		f := j.Fits
		switch j.ID {
		case "half": // 8 GiB, and 80 % of three sevenths of the SMs
			if f.Why != nil || f.Slice != nil || *f.Binds != profile.Compute || math.Abs(float64(f.SM)-100*0.8*3/7) > 1 {
				t.Errorf("half: %+v", f)
			}
		case "idle":
			if f.Why != nil || f.Slice != nil || f.Model != nil || float64(f.Freed) != 0 {
				t.Errorf("the smallest there is: %+v", f)
			}
		}
	}
	b := newMIGBox(true)
	z := profile.NewSummarizer(nil)
	for i := range 120 {
		tick := b.tick(i)
		tick.Samples[2].Set(profile.SMActive, 20)
		z.Add("box", tick)
	}
	for _, j := range z.Summary().Jobs {
		if f := j.Fits(); j.ID == "half" && (f.Slice == nil || f.Slice.Slice != "1g.10gb" || math.Abs(f.FreedHours(7)-7*(1-2./7)) > 1e-9) {
			t.Errorf("20 %% of three sevenths: %+v", f)
		}
	}
}

// TestSharesAboveAGPU: instances of one GPU that take more than its parts leave nothing, and a GPU
// that is divided anew counts by what it was.
func TestSharesAboveAGPU(t *testing.T) {
	b := newMIGBox(true)
	z := profile.NewSummarizer(nil)
	for i := range 7200 {
		t := b.tick(i)
		if i < 3600 {
			t.Samples, t.Processes = t.Samples[:2], t.Processes[:1]
		}
		z.Add("box", t)
	}
	r := z.Summary().Result(nil, nil, time.UTC)
	if got := float64(r.Total.Seen); math.Abs(got-4) > 1e-9 {
		t.Errorf("seen %v GPU-hours of two GPUs in two hours", got)
	}
	for _, g := range r.GPUs {
		if want := 1 + 9./84; g.UUID == "GPU-1" && math.Abs(float64(g.Seen)-want) > 1e-9 {
			t.Errorf("the GPU that was divided counts %v h, want %v", g.Seen, want)
		}
	}
}
