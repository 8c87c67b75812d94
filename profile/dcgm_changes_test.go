package profile_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
)

// gpuLine is a line of an exporter's page, with labels more.
func gpuLine(uuid, more string) string {
	return fmt.Sprintf("DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=%q,Hostname=\"node-7\"%s} 50\n", uuid, more)
}

// All pods of a GPU are its holders, each once, with their containers.
func TestDCGMOfSharedGPUs(t *testing.T) {
	slices3 := gpuLine("GPU-a", `,pod="p1",namespace="ml",container="a"`) + gpuLine("GPU-a", `,pod="p1",namespace="ml",container="b"`) +
		gpuLine("GPU-a", `,pod="p2",namespace="web",container="a"`) + strings.ReplaceAll(gpuLine("GPU-a", `,pod="p1",namespace="ml",container="a"`), "GPU_UTIL", "FB_USED") +
		gpuLine("GPU-b", "")
	for _, c := range []struct{ name, page, want string }{
		{"time slices", slices3, "GPU-a ml/p1/a , GPU-a ml/p1/b , GPU-a web/p2/a "},
		{"a page of a server", gpuLine("GPU-a", `,pod="exporter-1",namespace="mon",container="exp",exported_pod="p1",exported_namespace="ml",exported_container="a"`) +
			gpuLine("GPU-b", `,pod="exporter-1",namespace="mon",container="exp"`), "GPU-a ml/p1/a "},
		{"old names", gpuLine("GPU-a", `,pod_name="p1",pod_namespace="ml",container_name="a"`), "GPU-a ml/p1/a "},
		{"a job beside a pod", gpuLine("GPU-a", `,pod="p1",namespace="ml",container="a",hpc_job="88"`) + gpuLine("GPU-b", `,hpc_job="89"`), "GPU-a ml/p1/a 88, GPU-b // 89"},
		{"all free", gpuLine("GPU-a", `,pod="",namespace="",container=""`), ""},
	} {
		tick := read(t, open(t, "dcgm", profile.SourceOptions{Where: "metrics", Fetch: fetchTexts(c.page), Processes: time.Second}))
		var got []string
		for _, p := range tick.Processes {
			got = append(got, fmt.Sprintf("%s %s/%s/%s %s", p.Device.UUID, p.Namespace, p.Pod, p.Container, p.Job))
		}
		if text := strings.Join(got, ", "); text != c.want || !tick.LookedAtProcesses {
			t.Errorf("%s: held by %q, want %q", c.name, text, c.want)
		}
	}
	if tick := read(t, open(t, "dcgm", profile.SourceOptions{Where: "metrics", Fetch: fetchTexts(gpuLine("GPU-a", "")), Processes: time.Second})); tick.LookedAtProcesses {
		t.Error("an exporter that does not map pods says that GPUs are free")
	}
}

// GPUs that go from the page, come back, come anew and are divided are said; an empty page is no answer.
func TestDCGMOfGPUsThatComeAndGo(t *testing.T) {
	a, b := gpuLine("GPU-a", ""), gpuLine("GPU-b", "")
	part := func(id int, size string) string {
		return gpuLine("GPU-b", fmt.Sprintf(`,GPU_I_ID="%d",GPU_I_PROFILE="%s"`, id, size))
	}
	pages := []struct{ text, events string }{
		{a + b, ""},
		{a + b, ""},
		{a, "gpu_lost GPU-b"},
		{a, ""},
		{"", "error"},
		{"# nothing\nup 1\n", "error"},
		{a, ""},
		{a + b, "gpu_back GPU-b"},
		{a + b + gpuLine("GPU-c", ""), "gpu_back GPU-c"},
		{a + part(1, "1g.10gb") + part(2, "3g.40gb"), "mig_changed GPU-b, gpu_lost GPU-c"},
		{a + part(1, "1g.10gb") + part(2, "3g.40gb"), ""},
		{a + part(1, "2g.20gb") + part(2, "3g.40gb"), "mig_changed GPU-b"}, // the number is used again
		{a + b, "mig_changed GPU-b"},
	}
	texts := []string{a + b} // of the opening
	for _, p := range pages {
		texts = append(texts, p.text)
	}
	s := open(t, "dcgm", profile.SourceOptions{Where: "metrics", Fetch: fetchTexts(texts...)})
	for i, p := range pages {
		tick := &profile.Tick{At: noon}
		err := s.Read(context.Background(), tick)
		var bad *capcli.InputError
		if wrong := errors.As(err, &bad); wrong != (p.events == "error") {
			t.Fatalf("page %d: %v", i, err)
		}
		var got []string
		for _, e := range tick.Events {
			got = append(got, string(e.Kind)+" "+e.Device)
		}
		if text := strings.Join(got, ", "); err == nil && text != p.events {
			t.Errorf("page %d: events %q, want %q", i, text, p.events)
		}
		for k := range tick.Samples {
			if d := tick.Samples[k].Device; i == 11 && d.GI == 1 && d.Profile != "2g.20gb" {
				t.Errorf("instance %+v, want another one of the same number", d)
			}
		}
	}
}

// A GPU whose driver or number is another is another device; the old one does not change.
func TestDCGMOfAnotherDriver(t *testing.T) {
	page := func(index int, driver string) string {
		return fmt.Sprintf("DCGM_FI_DEV_GPU_UTIL{gpu=\"%d\",UUID=\"GPU-a\",DCGM_FI_DRIVER_VERSION=%q} 1\nDCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"GPU-b\"} 1\n", index, driver)
	}
	s := open(t, "dcgm", profile.SourceOptions{Where: "metrics", Fetch: fetchTexts(page(0, "535"), page(0, "535"), page(0, "535"), page(2, "570"))})
	one, two, three := read(t, s), read(t, s), read(t, s)
	if one.Samples[0].Device != two.Samples[0].Device {
		t.Error("a GPU that did not change is another device")
	}
	if d := three.Samples[1].Device; d.UUID != "GPU-a" || d.Driver != "570" || d.Index != 2 || one.Samples[0].Device.Driver != "535" || len(three.Events) > 0 {
		t.Errorf("device %+v, events %+v", d, three.Events)
	}
}

// An exporter that is up without GPUs, or answers with an error, is a gap, and the GPUs are not free.
func TestDCGMPageThatFails(t *testing.T) {
	page, n := gpuLine("GPU-a", `,pod="p1",namespace="ml"`), 0
	fetch := func(context.Context, string) (io.ReadCloser, error) {
		n++
		switch {
		case n > 5 && n <= 8:
			return io.NopCloser(strings.NewReader("up 1\n")), nil
		case n > 8 && n <= 10:
			return nil, errors.New("http://exporter answers 503 Service Unavailable")
		}
		return io.NopCloser(strings.NewReader(page)), nil
	}
	clock := &simClock{wall: noon, end: 2 * time.Minute}
	sum, sink := profile.NewSummarizer(time.UTC), &memory{}
	s := profile.Sampler{
		Source: open(t, "dcgm", profile.SourceOptions{Where: "metrics", Fetch: fetch, Processes: time.Second}), Sink: sink, Clock: clock, Every: time.Second,
		Observe: func(tick *profile.Tick) { sum.Add("n", tick) },
	}
	if _, err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	u := sum.Summary()
	use := u.Devices[0].Use
	if use.Held != use.Seen || u.Gaps == 0 || use.Seen+u.Gaps != 121e6 {
		t.Errorf("seen %s, held %s, gaps %s; want held whenever seen, and 2 minutes and a second together", micros(use.Seen), micros(use.Held), micros(u.Gaps))
	}
	if want := []profile.EventKind{profile.Began, profile.Stalled, profile.Gap, profile.Ended}; !slices.Equal(sink.kinds(), want) {
		t.Errorf("events %v, want %v", sink.kinds(), want)
	}
}

// The name of a box is not that of the exporter's pod, which changes.
func TestDCGMHost(t *testing.T) {
	for _, c := range []struct{ where, hostname, want string }{
		{"http://gpu-07:9400/metrics", "gpu-07.example", "gpu-07.example"},
		{"http://gpu-07:9400/metrics", "nvidia-dcgm-exporter-x7k2p", "http://gpu-07:9400/metrics"},
		{"http://127.0.0.1:9400/metrics", "nvidia-dcgm-exporter-x7k2p", ""}, // this box
		{"http://[::1]:9400/metrics", "", ""},
		{"http://localhost:9400/metrics", "", ""},
		{"metrics", "", "metrics"},
	} {
		page := strings.Replace(gpuLine("GPU-a", ""), "node-7", c.hostname, 1)
		if got := open(t, "dcgm", profile.SourceOptions{Where: c.where, Fetch: fetchTexts(page)}).Host(); got != c.want {
			t.Errorf("%s, %s: host %q, want %q", c.where, c.hostname, got, c.want)
		}
	}
}

// A page of eight GPUs with forty metrics, each held by a pod.
func BenchmarkDCGM(b *testing.B) {
	var page strings.Builder
	for f := range 40 {
		for g := range 8 {
			fmt.Fprintf(&page, "DCGM_FI_DEV_FIELD_%d{gpu=\"%d\",UUID=\"GPU-%d\",pci_bus_id=\"0\",device=\"nvidia0\",modelName=\"NVIDIA H100 80GB HBM3\",Hostname=\"node-7\",DCGM_FI_DRIVER_VERSION=\"535.161.08\",container=\"main\",namespace=\"ml\",pod=\"train-%d\"} 97\n", f, g, g, g)
		}
	}
	entry, _ := profile.Sources.Get("dcgm")
	s, err := entry(profile.SourceOptions{Where: "metrics", Fetch: fetchTexts(page.String()), Processes: time.Second})
	if err != nil {
		b.Fatal(err)
	}
	var tick profile.Tick
	b.ReportAllocs()
	for b.Loop() {
		tick.Reset()
		if err := s.Read(context.Background(), &tick); err != nil {
			b.Fatal(err)
		}
	}
}
