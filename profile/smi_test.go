package profile_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
)

// A recording with units, as people make them by hand.
const smiLog = `timestamp, index, uuid, name, utilization.gpu [%], memory.used [MiB], power.draw [W], fan.speed [%], clocks_event_reasons.active, pstate, temperature.memory, ecc.errors.uncorrected.volatile.total
2026/03/29 01:59:58.900, 0, GPU-a, NVIDIA L4, 34 %, 1024 MiB, 71.25 W, [N/A], 0x0000000000000004, P0, N/A, [Insufficient Permissions]
2026/03/29 01:59:58.912, 1, GPU-b, NVIDIA L4, 0 %, 0 MiB, [Unknown Error], [Not Supported], 0x0000000000000001, P8, N/A, 0
2026/03/29 03:00:00.100, 0, GPU-a, NVIDIA L4, 36 %, 1026 MiB, 70.00 W, [N/A], 0x0, P0, N/A, 0
2026/03/29 03:00:00.112, 1, GPU-b, NVIDIA L4, [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost]
2026/03/29 03:00:01.100, 0, GPU-a, NVIDIA L4, 37 %, 1026 MiB, 70.00 W, [N/A], 0x0, P0, N/A, 0
`

func TestSMIRecording(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here")
	}
	s := open(t, "smi", profile.SourceOptions{Where: "log.csv", Fetch: fetchTexts(smiLog), Zone: berlin})
	one := read(t, s)
	if len(one.Samples) != 2 {
		t.Fatalf("got %d samples in the first tick, want 2", len(one.Samples))
	}
	checkSample(
		t, &one.Samples[0],
		want{profile.UtilGPU, 34, profile.Known}, want{profile.MemUsed, 1 << 30, profile.Known}, want{profile.Power, 71.25, profile.Known},
		want{profile.Fan, 0, profile.Unsupported}, want{profile.Throttle, 4, profile.Known}, want{profile.PState, 0, profile.Known},
		want{profile.ECCUncorrected, 0, profile.NoPermission}, want{profile.SMActive, 0, profile.Unsupported},
	)
	checkSample(t, &one.Samples[1], want{profile.Power, 0, profile.Failed}, want{profile.PState, 8, profile.Known})
	two := read(t, s)
	checkSample(t, &two.Samples[1], want{profile.UtilGPU, 0, profile.Lost})
	if got := two.At.Sub(one.At); got != 1200*time.Millisecond { // the clocks went forward between them
		t.Errorf("the ticks are %v apart, want 1.2s", got)
	}
	if one.Every != 1200*time.Millisecond || two.Every != time.Second {
		t.Errorf("intervals of %v and %v, want the shortest so far", one.Every, two.Every)
	}
	if three := read(t, s); len(three.Samples) != 1 {
		t.Errorf("got %d samples in the last tick, want 1", len(three.Samples))
	}
	if err := s.Read(context.Background(), &profile.Tick{}); !errors.Is(err, io.EOF) {
		t.Errorf("got %v at the end, want the end of the file", err)
	}
}

const smiLive = `index, uuid, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB]
0, GPU-a, NVIDIA L4, 34, 1024, 23034
`

const smiProcs = `gpu_uuid, pid, process_name, used_gpu_memory [MiB]
GPU-a, 4711, /usr/bin/python3, 1000
GPU-a, 4712, [Not Found], [N/A]
GPU-z, 1, other, 5
`

func TestSMILive(t *testing.T) {
	old := 0
	fetch := func(_ context.Context, what string) (io.ReadCloser, error) {
		switch {
		case strings.Contains(what, "compute-apps"):
			return io.NopCloser(strings.NewReader(smiProcs)), nil
		case strings.Contains(what, "clocks_event_reasons"):
			old++
			return nil, errors.New(`Field "clocks_event_reasons.active" is not a valid field to query`)
		}
		return io.NopCloser(strings.NewReader(smiLive)), nil
	}
	s := open(t, "smi", profile.SourceOptions{Fetch: fetch, Processes: time.Second})
	tick := read(t, s)
	if old != 2 { // for two lists of columns
		t.Errorf("an old nvidia-smi was asked %d times for what it does not know", old)
	}
	checkSample(t, &tick.Samples[0], want{profile.MemTotal, 23034 << 20, profile.Known}, want{profile.Power, 0, profile.Unsupported})
	if len(tick.Processes) != 2 || tick.Processes[0].PID != 4711 || tick.Processes[0].MemBytes != 1000<<20 || tick.Processes[1].MemWhy != profile.Unsupported {
		t.Errorf("got %+v, want the two processes of GPU-a", tick.Processes)
	}
}

func TestSMIBadInput(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		zone             *time.Location
	}{
		{"empty", "", "found nothing", time.UTC},
		{"no times", "index, uuid\n0, GPU-a\n", "timestamp", time.UTC},
		{"no zone", smiLog, "has no zone", nil},
		{"a time in another form", "timestamp, uuid\n2026-01-01, GPU-a\n", "expected a time", time.UTC},
		{"a short row", "timestamp, uuid, utilization.gpu [%]\n2026/01/01 00:00:00.000, GPU-a\n", "expected 3 columns, found 2", time.UTC},
		{"not a number", "timestamp, uuid, utilization.gpu [%]\n2026/01/01 00:00:00.000, GPU-a, much\n", "expected a number", time.UTC},
	} {
		t.Run(c.name, func(t *testing.T) {
			open, _ := profile.Sources.Get("smi")
			s, err := open(profile.SourceOptions{Where: "log.csv", Fetch: fetchTexts(c.text), Zone: c.zone})
			if err == nil {
				err = s.Read(context.Background(), &profile.Tick{})
			}
			var bad *capcli.InputError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || bad.Line == 0 {
				t.Errorf("got %v, want an error about a line of the input with %q", err, c.want)
			}
		})
	}
}

func FuzzSMI(f *testing.F) {
	f.Add(smiLog)
	f.Add(smiLive)
	f.Add("timestamp, uuid, pstate\n2026/01/01 00:00:00.000, \"GPU\n\", P\n")
	f.Fuzz(func(t *testing.T, text string) {
		open, _ := profile.Sources.Get("smi")
		s, err := open(profile.SourceOptions{Where: "log.csv", Fetch: fetchTexts(text), Zone: time.UTC})
		if err != nil {
			return
		}
		var tick profile.Tick
		for range 1000 {
			tick.Reset()
			if s.Read(context.Background(), &tick) != nil {
				return
			}
			if len(tick.Samples) == 0 {
				t.Fatal("a tick without samples")
			}
			checkPlausible(t, &tick)
		}
	})
}

// GPUs that go from the list, are lost, come back or come anew are said; a list without GPUs is no answer.
func TestSMIOfGPUsThatComeAndGo(t *testing.T) {
	row := func(uuid, util string) string { return "0, " + uuid + ", NVIDIA L4, " + util + ", 1024, 23034\n" }
	head, _, _ := strings.Cut(smiLive, "\n")
	a, b, lost := row("GPU-a", "34"), row("GPU-b", "0"), "0, GPU-b, [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost]\n"
	pages := []struct{ rows, events string }{
		{a + b, ""},
		{a, "gpu_lost GPU-b: nvidia-smi does not tell of the GPU any more"},
		{a, ""},
		{"", "error"},
		{a + b, "gpu_back GPU-b: the GPU is there again"},
		{a + lost, "gpu_lost GPU-b: nvidia-smi does not tell of the GPU any more"},
		{a + lost, ""},
		{a + b + row("GPU-c", "1"), "gpu_back GPU-b: the GPU is there again, gpu_back GPU-c: a GPU that was not there before"},
	}
	texts := []string{head + "\n" + a + b} // of the opening
	for _, p := range pages {
		texts = append(texts, head+"\n"+p.rows)
	}
	s := open(t, "smi", profile.SourceOptions{Fetch: fetchTexts(texts...)})
	for i, p := range pages {
		tick := &profile.Tick{At: noon}
		if err := s.Read(context.Background(), tick); (err != nil) != (p.events == "error") {
			t.Fatalf("answer %d: %v", i, err)
		} else if err != nil {
			continue
		}
		var got []string
		for _, e := range tick.Events {
			got = append(got, string(e.Kind)+" "+e.Device+": "+e.Text)
		}
		if text := strings.Join(got, ", "); text != p.events {
			t.Errorf("answer %d: events %q, want %q", i, text, p.events)
		}
		if p.rows == a+lost && tick.Samples[1].Answered() {
			t.Errorf("answer %d: the lost GPU answered", i)
		}
	}
}
