package store

import (
	"testing"
	"time"

	"capcli/profile"
)

// TestProcessesOfInstances: the device of a process is that of the tick's sample, also where an instance
// came while processes were read ahead.
func TestProcessesOfInstances(t *testing.T) {
	gpu := &profile.Device{UUID: "GPU-a", Model: "H100", GI: -1, CI: -1}
	mig := &profile.Device{UUID: "MIG-b", Model: "H100", Parent: "GPU-a", Profile: "1g.10gb", GI: 7}
	ticks := make([]profile.Tick, 600)
	for i := range ticks {
		k := &ticks[i]
		k.At, k.Every, k.LookedAtProcesses = noon.Add(time.Duration(i)*time.Second), time.Second, i%5 == 0
		k.NextSample(gpu)
		if i >= 450 {
			k.NextSample(mig)
		}
		if k.LookedAtProcesses {
			k.Processes = []profile.Process{{Device: gpu, PID: 1, User: "u"}, {Device: mig, PID: 2, User: "v"}}[:len(k.Samples)]
		}
	}
	disk := newMemDisk()
	w := create(t, "all", Options{Host: "box", SegmentRows: 100, Disk: disk})
	for i := range ticks {
		if err := w.Write(&ticks[i]); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, w)
	for _, q := range []Query{{}, {Devices: []string{"GPU-a"}}} {
		n := 0
		for tick, err := range OpenDir(disk, "all").Ticks(q) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range tick.Processes {
				n++
				if i >= len(tick.Samples) || tick.Processes[i].Device != tick.Samples[i].Device {
					t.Fatalf("%v: a process of %+v, samples of %d devices", q.Devices, tick.Processes[i].Device, len(tick.Samples))
				}
			}
		}
		if n != 150 {
			t.Errorf("%v: %d processes, want 150", q.Devices, n)
		}
	}
}
