package profile_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"capcli/profile"
)

func TestMachineID(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	one := profile.MachineID(id + "\n")
	if len(one) != 32 || one == id || profile.MachineID("01234567-89AB-CDEF-0123-456789ABCDEF") != one || profile.MachineID(strings.Repeat("1", 31)+"2") == one {
		t.Errorf("id %q", one)
	}
	for _, text := range []string{"", "uninitialized\n", strings.Repeat("0", 32), id[1:], id + "0", strings.Repeat("g", 32)} {
		if got := profile.MachineID(text); got != "" {
			t.Errorf("%q has the id %q", text, got)
		}
	}
}

// Each day's files say which machine recorded them, and a summary says where two have one name and one
// has two.
func TestMachines(t *testing.T) {
	sum := profile.NewSummarizer(time.UTC)
	for _, c := range []struct{ host, machine string }{{"gpu-07", "aa"}, {"gpu-07", "bb"}, {"gpu-08", "bb"}, {"gpu-09", "cc"}} {
		clock := &simClock{wall: noon, end: 49 * time.Hour}
		sink := &memory{}
		s := profile.Sampler{
			Source: profile.NewFake(profile.SourceOptions{Every: time.Minute}), Sink: sink, Clock: clock, Every: time.Minute, Machine: c.machine,
			Observe: func(tick *profile.Tick) { sum.Add(c.host, tick) },
		}
		if _, err := s.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		days := 0
		for _, e := range sink.events {
			if e.Kind == profile.Machine && e.Text == c.machine {
				days++
			}
		}
		if first := sink.events[0].Kind; days != 3 || first != profile.Machine {
			t.Errorf("%s: told %d times, first %s", c.host, days, first)
		}
	}
	r := sum.Summary().Result([]string{"box"}, nil, time.UTC)
	notes := strings.Join(r.Notes(), "\n")
	for _, want := range []string{"2 machines recorded under the name gpu-07", "one machine recorded as gpu-07 and as gpu-08"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	if strings.Contains(notes, "gpu-09") || slices.ContainsFunc(r.Events, func(e profile.HostEvent) bool { return e.Kind == profile.Machine }) {
		t.Errorf("said of a box that is in order:\n%s", notes)
	}
}
