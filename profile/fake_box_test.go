package profile

import (
	"context"
	"testing"
	"time"
)

// What the made-up box tells of its jobs goes with what their GPUs do: a job that lacks input waits for
// it, one that writes a checkpoint writes, and a gang over several boxes sends over the fabric.
func TestFakeBoxFollowsItsJobs(t *testing.T) {
	for _, c := range []struct {
		kind  FakeWork
		gpus  []int
		least map[GroupMetric]float64 // mean of a job
		net   float64                 // means of the box, at least; the fabric is idle where its least is 0
		sent  float64
	}{
		{FakeStarved, []int{0, 1}, map[GroupMetric]float64{GroupIOWait: 40, GroupRefaults: 5000, GroupCPU: 1000}, 400, 0},
		{FakeTraining, []int{0, 1}, map[GroupMetric]float64{GroupRead: 60, GroupWrite: 10}, 0, 0},
		{FakeTraining, []int{0, 1, 2, 3, 4, 5, 6, 7}, map[GroupMetric]float64{GroupCPU: 3000}, 0, 15_000},
		{FakeSync, []int{0, 1, 2, 3}, map[GroupMetric]float64{GroupCPU: 1000}, 0, 30_000},
		{FakeInference, []int{0}, map[GroupMetric]float64{GroupMemory: 1 << 34}, 0, 0},
	} {
		f := NewFake(SourceOptions{Every: time.Second, Processes: 5 * time.Second, Seed: 3})
		f.begun = true
		at := Instant(1_795_521_600_000_000)
		for i := range f.gpus {
			f.gpus[i].free = at + 1e12
		}
		f.start(at, at+1e12, &fakeKinds[c.kind], c.gpus...)
		var tick Tick
		var sums [NumGroupMetrics]float64
		looks, net, sent := 0.0, 0.0, 0.0
		for i := range 3600 {
			tick.Reset()
			tick.At = at + Instant(i)*1e6
			f.last = tick.At - 1e6
			if err := f.Read(context.Background(), &tick); err != nil || !tick.LookedAtHost || len(tick.Groups) > 0 != tick.LookedAtProcesses {
				t.Fatalf("%v: %+v", err, tick)
			}
			if tick.Groups != nil && tick.LookedAtProcesses {
				looks++
				for m := range sums {
					v, _ := tick.Groups[0].Get(GroupMetric(m))
					sums[m] += v
				}
				if tick.Groups[0].Owner != tick.Processes[0].Owner() {
					t.Fatalf("%+v is not whose processes are %+v", tick.Groups[0].Owner, tick.Processes[0].Owner())
				}
			}
			v, _ := tick.Host.Get(NetRx)
			net += v / 3600
			v, _ = tick.Host.Get(FabricTx)
			sent += v / 3600
		}
		name := fakeKinds[c.kind].name
		for m, least := range c.least {
			if got := sums[m] / looks; got < least {
				t.Errorf("%s: %s is %v, want %v", name, m, got, least)
			}
		}
		if net < c.net || sent < c.sent || c.sent == 0 && sent > 0 {
			t.Errorf("%s: network %v, fabric %v MiB/s", name, net, sent)
		}
	}
}
