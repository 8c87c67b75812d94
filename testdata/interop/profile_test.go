package interop

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"capcli/profile"
	ours "capcli/profile/logs/parquet"
	"capcli/profile/store"
)

// TestTheyReadProfiles covers the seven tables of capcli profile, before and after
// they are compacted, with all their encodings.
func TestTheyReadProfiles(t *testing.T) {
	dir := t.TempDir()
	w, _, err := store.Create(dir, store.Options{Host: "box", Trouble: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	box := profile.NewFake(profile.SourceOptions{Every: time.Second, Processes: 5 * time.Second, Seed: 1})
	var tick profile.Tick
	for i := range 1500 {
		tick.Reset()
		tick.At, tick.Every = profile.Instant(1_700_000_000_000_000+i*1_000_000), time.Second
		if err := box.Read(context.Background(), &tick); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 {
			tick.Samples[i%8].Clear(profile.Timeout)
			tick.Events = append(tick.Events, profile.Event{At: tick.At, Kind: profile.Stalled})
			tick.Readings = append(tick.Readings, profile.Reading{Name: "loss", Value: 1 / float64(i+1)}, profile.Reading{Device: tick.Samples[1].Device, Name: "step_s", Value: 0.5})
		}
		if err := w.Write(&tick); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	theyRead(t, dir, 21)
	if _, err := store.Compact(context.Background(), nil, dir, store.CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	theyRead(t, dir, 10) // with the three tables of roll-ups
}

func theyRead(t *testing.T, dir string, files int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "date=*", "host=*", "*.parquet"))
	if err != nil || len(names) != files {
		t.Fatalf("%d files, want %d; %v", len(names), files, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, theirs(t, b), weRead(t, b))
	}
}

// weRead reads every column of a file with our own reader.
func weRead(t *testing.T, b []byte) map[string]tally {
	t.Helper()
	f, err := ours.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]tally{}
	for i, c := range f.Columns() {
		var sum tally
		for g := range f.Groups() {
			v := ours.NewVector(c.Kind, 0)
			if err := f.Read(g, i, &v); err != nil {
				t.Fatal(err)
			}
			for k := range v.Null {
				switch {
				case v.Null[k]:
					sum.add(nil)
				case v.Texts != nil:
					sum.add(v.Texts[k])
				case v.Floats != nil:
					sum.add(v.Floats[k])
				default:
					sum.add(v.Ints[k])
				}
			}
		}
		out[c.Name] = sum
	}
	return out
}
