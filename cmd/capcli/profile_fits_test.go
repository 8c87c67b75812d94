package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"capcli/profile"
	"capcli/profile/store"
)

// TestSharedJobsFeedSimulate records two small jobs on GPUs of their own and a large
// one, and replays them on fewer GPUs than they held.
func TestSharedJobsFeedSimulate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "box")
	w, _, err := store.Create(dir, store.Options{Host: "box", Sync: time.Hour, SegmentTime: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	begin := profile.InstantOf(time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC))
	var tick profile.Tick
	for i := range 60 {
		tick.Reset()
		tick.At, tick.Every, tick.LookedAtProcesses = begin.Add(time.Duration(i)*time.Minute), time.Minute, true
		for k, gib := range []float64{8, 30, 60} {
			d := &profile.Device{Index: k, UUID: "GPU-" + string(rune('a'+k)), Model: "NVIDIA H100 80GB HBM3", GI: -1, CI: -1}
			s := tick.NextSample(d)
			s.Set(profile.UtilGPU, 100)
			s.Set(profile.SMActive, 10)
			s.Set(profile.MemUsed, gib*(1<<30))
			s.Set(profile.MemTotal, 80*(1<<30))
			tick.Processes = append(tick.Processes, profile.Process{Device: d, User: "u", PID: int64(k + 1), Job: "j" + string(rune('1'+k))})
		}
		if err := w.Write(&tick); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		wait float64
	}{{"whole.csv", nil, 3600}, {"shared.parquet", []string{"--share"}, 0}, {"shared.csv", []string{"--share"}, 0}} {
		jobs := filepath.Join(t.TempDir(), c.name)
		_, note := capcliRun(t, 0, append([]string{"profile", "jobs", dir, "--out", jobs}, c.args...)...)
		if c.args != nil && !strings.Contains(note, "2 of them could share a GPU: they need 0.6 GPUs together and held 2") {
			t.Errorf("%s: %s", c.name, note)
		}
		scenario := writeFile(t, "two.yaml", "capcli: scenario/v1\nname: two\ncapacity:\n  - {name: h100, kind: owned, nodes: 1, gpus_per_node: 2, price: 1 USD/gpu-h}\n")
		out, _ := capcliRun(t, 0, "simulate", scenario, "--trace", jobs, "-o", "json", "-q")
		var doc struct {
			Runs []struct {
				Wait float64 `json:"wait_max_s"`
			} `json:"runs"`
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Runs) != 1 || doc.Runs[0].Wait != c.wait {
			t.Errorf("%s on two GPUs: waits %+v (%v), want %g\n%s", c.name, doc.Runs, err, c.wait, out[:min(len(out), 1500)])
		}
	}
	out, _ := capcliRun(t, 0, "profile", "summary", dir, "--table", "fits", "-o", "csv", "-q")
	want := "j1,NVIDIA H100 80GB HBM3,1,8,0.1,,MIG 1g.10gb or L4,memory,"
	if !strings.Contains(out, want) {
		t.Errorf("got\n%s\nwant %s", out, want)
	}
}
