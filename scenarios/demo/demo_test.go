package demo

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/profile"
	"capcli/profile/logs/trace"
	"capcli/profile/store"
)

// The recording has the jobs of the log: the same ids, GPUs, starts and ends to the minute, and all of their time; no
// GPU is held twice. What the GPUs do is what the class says.
func TestRecordingIsOfTheLog(t *testing.T) {
	w, err := NewWorld(3)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := w.Record(store.System{}, dir); err != nil {
		t.Fatal(err)
	}
	whole := store.OpenFolders([]store.Folder{{Name: dir, Disk: store.System{}, Root: dir}})
	held := map[string]float64{} // microseconds by device and hour
	sum, err := whole.Summarise(context.Background(), store.SummaryRequest{Each: func(s *profile.Span) {
		key := s.Host + s.Device.UUID + s.Hour.Stamp()
		if held[key] += float64(s.Use.Seen); held[key] > 3.6e9 {
			t.Errorf("%s: %v microseconds in an hour", key, held[key])
		}
	}}, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Devices) != boxes*gpus || len(held) != boxes*gpus*42*24 {
		t.Errorf("%d devices and %d hours", len(sum.Devices), len(held))
	}
	seen, _ := sum.Record(false)
	byID := map[string]capcli.Job{}
	for _, j := range seen {
		byID[j.ID] = j
	}
	verdicts := map[string]map[string]int{}
	hours := 0.0
	log, err := trace.Open(trace.Input{Name: "jobs.csv", R: bytes.NewReader(w.Files[0].Text)}, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for j, err := range log.Jobs() {
		if err != nil {
			t.Fatal(err)
		}
		r, ok := byID[j.ID]
		if !ok || r.GPUs != j.GPUs || r.Tenant != j.Tenant || math.Abs(float64(r.Start-j.Start)) > 1 || math.Abs(float64(r.Run-j.Run)) > 1 {
			t.Fatalf("the log has %+v, the recording %+v", j, r)
		}
		hours += j.Work().Hours()
		if verdicts[j.Class] == nil {
			verdicts[j.Class] = map[string]int{}
		}
		if r.Run > 1800 {
			verdicts[j.Class][r.Class]++
		}
	}
	if got := sum.Total().HeldHours(); math.Abs(got-hours) > 1e-6*hours {
		t.Errorf("%v GPU-hours held, the log has %v", got, hours)
	}
	for class, want := range map[string]string{"training": "working compute_bound", "finetune": "input_starved", "serving": "light", "nightly": "memory_bound", "notebook": "never_busy"} {
		for got := range verdicts[class] {
			if !slices.Contains(strings.Fields(want), got) {
				t.Errorf("%s: %v, want %s", class, verdicts[class], want)
			}
		}
	}
}
