package profile_test

import (
	"context"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
)

func BenchmarkLevels(b *testing.B) {
	f := profile.NewFake(profile.SourceOptions{Every: time.Second, Processes: 5 * time.Second, Seed: 3})
	ticks := make([]profile.Tick, 1000)
	for i := range ticks {
		ticks[i].At, ticks[i].Every = noon.Add(time.Duration(i)*time.Second), time.Second
		_ = f.Read(context.Background(), &ticks[i])
	}
	all := []string{"all"}
	l := &profile.Levels{
		Step:   capcli.Step{Seconds: capcli.Hour},
		Groups: func(string, *profile.Device, string) []string { return all },
		Places: func(string, *profile.Device) []string { return all },
	}
	b.ReportAllocs()
	for i := range b.N {
		t := ticks[i%len(ticks)]
		t.At = noon.Add(time.Duration(i) * time.Second)
		if err := l.Add("box", &t); err != nil {
			b.Fatal(err)
		}
	}
}
