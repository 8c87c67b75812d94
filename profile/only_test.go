package profile_test

import (
	"context"
	"errors"
	"testing"

	"capcli"
	"capcli/profile"
)

// A recording of some GPUs has neither samples nor processes of the others.
func TestOnlyGPUs(t *testing.T) {
	read := func(names ...string) (*profile.Tick, error) {
		s := profile.OnlyGPUs(profile.NewFake(profile.SourceOptions{Every: 1e9, Processes: 1e9, Seed: 1}), names)
		tick := &profile.Tick{At: noon}
		return tick, s.Read(context.Background(), tick)
	}
	all, err := read("0", "1", "2", "3", "4", "5", "6", "7")
	if err != nil || len(all.Samples) != 8 {
		t.Fatal(len(all.Samples), err)
	}
	some, err := read("5", all.Samples[2].Device.UUID)
	if err != nil || len(some.Samples) != 2 || some.Samples[0].Device.Index != 2 || some.Samples[1].Device.Index != 5 {
		t.Fatalf("%+v, %v", some.Samples, err)
	}
	for _, p := range some.Processes {
		if p.Device.Index != 2 && p.Device.Index != 5 {
			t.Errorf("a process on GPU %d", p.Device.Index)
		}
	}
	if len(some.Processes) == 0 {
		t.Error("no process of GPU 2 or 5 is left")
	}
	_, err = read("5", "8")
	if bad, ok := errors.AsType[*capcli.RequestError](err); !ok || bad.Field != "gpu" {
		t.Errorf("a GPU that is not there gives %v", err)
	}
}
