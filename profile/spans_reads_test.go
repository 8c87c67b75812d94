package profile_test

import (
	"testing"
	"time"

	"capcli/profile"
)

// What a GPU did while it did not answer is not known: it is neither free, nor idle, nor seen. Its
// holders are the same afterwards, unless a look says otherwise.
func TestGPUsThatDoNotAnswer(t *testing.T) {
	a, b := &profile.Device{Index: 0, UUID: "GPU-a", GI: -1, CI: -1}, &profile.Device{Index: 1, UUID: "GPU-b", GI: -1, CI: -1}
	sum := profile.NewSummarizer(time.UTC)
	for i := range 60 {
		tick := &profile.Tick{At: noon.Add(time.Duration(i) * time.Second), Every: time.Second, LookedAtProcesses: i%5 == 0}
		for _, d := range []*profile.Device{a, b} {
			s := tick.NextSample(d)
			if d == b && i >= 20 && i < 50 {
				s.Clear([]profile.Reason{profile.Timeout, profile.Lost}[i%2])
				continue
			}
			s.Set(profile.UtilGPU, 80)
			if tick.LookedAtProcesses {
				tick.Processes = append(tick.Processes, profile.Process{Device: d, Job: "88", Kind: "compute"})
			}
		}
		sum.Add("box", tick)
	}
	out := sum.Summary()
	for i, want := range []int64{60e6, 30e6} {
		u := out.Devices[i].Use
		if u.Seen != want || u.Held != want || u.Idle != 0 {
			t.Errorf("GPU %d: seen %s, held %s, idle %s; want %s held", i, micros(u.Seen), micros(u.Held), micros(u.Idle), micros(want))
		}
	}
	if len(out.Jobs) != 1 || out.Jobs[0].Use.Held != 90e6 || out.Jobs[0].Devices != 2 {
		t.Errorf("jobs %+v", out.Jobs)
	}
}
