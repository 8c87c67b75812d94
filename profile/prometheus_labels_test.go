package profile_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
)

// kept is a series that a made-up server keeps: name{labels}, a value a minute from a minute to another.
type kept struct {
	series   string
	from, to int
}

var (
	keptForm  = regexp.MustCompile(`(\w+)=(~?)"([^"]*)"`)
	askedForm = regexp.MustCompile(`^(?:(?:avg|last)_over_time\()?(\w+)(?:\{(.*)\})?(?:\[(\d+)s\]\))?$`)
)

const keptBegin = capcli.Time(1_790_000_040) // a whole minute

// keptSeries is a kept with its labels.
type keptSeries struct {
	kept
	name   string
	labels map[string]string
}

// matches reports whether the series has the labels that matchers ask for.
func (k *keptSeries) matches(matchers string) bool {
	for _, m := range keptForm.FindAllStringSubmatch(matchers, -1) {
		v := k.labels[m[1]]
		if v != m[3] && (m[2] == "" || !regexp.MustCompile("^(?:"+strings.ReplaceAll(m[3], `\\`, `\`)+")$").MatchString(v)) {
			return false
		}
	}
	return true
}

// values returns the last value of each window at the points of a question.
func (k *keptSeries) values(from, to, step, window capcli.Time) profile.Range {
	r := profile.Range{Labels: k.labels}
	for at := from; at <= to; at += step {
		last := min((at-keptBegin)/60*60, capcli.Time(k.to)*60)
		if last >= capcli.Time(k.from)*60 && keptBegin+last > at-window {
			r.At, r.Values = append(r.At, at), append(r.Values, 50)
		}
	}
	return r
}

// serverOf answers questions as a Prometheus server that keeps the series.
func serverOf(t *testing.T, all []kept) func(context.Context, string, capcli.Time, capcli.Time, capcli.Seconds) ([]profile.Range, error) {
	series := map[string][]*keptSeries{}
	for _, k := range all {
		name, rest, _ := strings.Cut(k.series, "{")
		one := &keptSeries{kept: k, name: name, labels: map[string]string{}}
		for _, l := range keptForm.FindAllStringSubmatch(rest, -1) {
			if l[3] != "" { // a server drops empty labels
				one.labels[l[1]] = l[3]
			}
		}
		series[name] = append(series[name], one)
	}
	return func(_ context.Context, query string, from, to capcli.Time, step capcli.Seconds) ([]profile.Range, error) {
		var out []profile.Range
		had := map[*keptSeries]bool{}
		for one := range strings.SplitSeq(query, " or ") {
			name := one[strings.Index(one, "(")+1:]
			name = name[:max(0, strings.IndexAny(name+"[", "{[)"))]
			if series[name] == nil {
				continue
			}
			q := askedForm.FindStringSubmatch(one)
			if q == nil {
				t.Fatalf("asked %s", query)
			}
			window := capcli.Time(300) // of a server that is not told one
			_, _ = fmt.Sscan(q[3], &window)
			for _, k := range series[name] {
				if had[k] || !k.matches(q[2]) {
					continue
				}
				had[k] = true
				if r := k.values(from, to, capcli.Time(step), window); len(r.At) > 0 {
					out = append(out, r)
				}
			}
		}
		return out, nil
	}
}

// toldBy reads the past and returns for each box and GPU who held it and over how many minutes, and the
// events.
func toldBy(t *testing.T, all []kept, minutes int, host string) (held map[string]int, events []string) {
	t.Helper()
	s := open(t, "prometheus", profile.SourceOptions{
		Where: "http://prom", Every: time.Minute, Processes: time.Second, Host: host, Range: serverOf(t, all),
		From: profile.InstantOf((keptBegin - 60).Std()), To: profile.InstantOf((keptBegin + capcli.Time(60*(minutes-1))).Std()),
	})
	held = map[string]int{}
	for {
		var tick profile.Tick
		err := s.Read(context.Background(), &tick)
		if errors.Is(err, io.EOF) {
			return held, events
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range tick.Events {
			minute := (e.At.Second() - keptBegin) / 60
			events = append(events, fmt.Sprintf("%s %s %s at %d: %d", s.Host(), e.Kind, e.Device, minute, e.Value))
		}
		for i := range tick.Samples {
			d := tick.Samples[i].Device
			who := []string{}
			for _, p := range tick.Processes {
				if p.Device.UUID == d.UUID {
					who = append(who, strings.Trim(fmt.Sprintf("%s/%s/%s %s", p.Namespace, p.Pod, p.Container, p.Job), "/ "))
				}
			}
			slices.Sort(who)
			text := strings.Join(who, " + ")
			if text == "" {
				text = "free"
			}
			if !tick.LookedAtProcesses {
				text = "not told"
			}
			held[fmt.Sprintf("%s %s: %s", s.Host(), d.UUID, text)]++
		}
	}
}

const (
	util    = "DCGM_FI_DEV_GPU_UTIL"
	monitor = `job="nvidia-dcgm-exporter",endpoint="gpu-metrics",service="nvidia-dcgm-exporter",instance="10.0.0.7:9400",namespace="gpu-operator",container="nvidia-dcgm-exporter",pod="nvidia-dcgm-exporter-x7k2p"`
	plugin  = `job="gpus",instance="10.0.0.7:9400",namespace="mon",container="main",pod="gpu-metrics-abcde"`
)

// Who holds a GPU, and which box it is in, in the setups that there are.
func TestLabelsOfPrometheus(t *testing.T) {
	for _, c := range []struct {
		name   string
		series []kept
		host   string
		want   []string // box, GPU, holders, minutes
		events []string
	}{
		{"GPU Operator, honorLabels off", []kept{
			{util + `{UUID="GPU-a",Hostname="node-1",exported_pod="train-0",exported_namespace="ml",exported_container="main",` + monitor + `}`, 0, 9},
			{util + `{UUID="GPU-b",Hostname="node-1",` + monitor + `}`, 0, 9},
			{util + `{UUID="GPU-c",Hostname="node-2",` + strings.NewReplacer("x7k2p", "q9", "0.7", "0.8").Replace(monitor) + `}`, 0, 9},
		}, "", []string{"node-1 GPU-a: ml/train-0/main 10", "node-1 GPU-b: free 10", "node-2 GPU-c: free 10"}, nil},
		{"GPU Operator, honorLabels on", []kept{
			{util + `{UUID="GPU-a",Hostname="node-1",` + strings.NewReplacer(`namespace="gpu-operator"`, `namespace="ml"`, `container="nvidia-dcgm-exporter"`, `container="main"`, `pod="nvidia-dcgm-exporter-x7k2p"`, `pod="train-0"`).Replace(monitor) + `}`, 0, 9},
			{util + `{UUID="GPU-b",Hostname="node-1",` + monitor + `}`, 0, 9},
		}, "", []string{"node-1 GPU-a: ml/train-0/main 10", "node-1 GPU-b: free 10"}, nil},
		{"exporters that do not map pods", []kept{
			{util + `{UUID="GPU-a",Hostname="node-1",` + monitor + `}`, 0, 9},
		}, "", []string{"node-1 GPU-a: not told 10"}, nil},
		{"an exporter of another name, by the server's own labels", []kept{
			{util + `{UUID="GPU-a",Hostname="node-1",job="gpus",instance="10.0.0.7:9400",namespace="ml",container="main",pod="train-0"}`, 0, 9},
			{util + `{UUID="GPU-b",Hostname="node-1",` + plugin + `}`, 0, 9},
			{`up{` + plugin + `}`, 0, 9},
		}, "", []string{"node-1 GPU-a: ml/train-0/main 10", "node-1 GPU-b: free 10"}, nil},
		{"static targets", []kept{
			{util + `{UUID="GPU-a",Hostname="gpu-07",job="dcgm",instance="gpu-07:9400",pod="train-0",namespace="ml",container="main"}`, 0, 9},
			{util + `{UUID="GPU-b",Hostname="gpu-07",job="dcgm",instance="gpu-07:9400"}`, 0, 9},
			{`up{job="dcgm",instance="gpu-07:9400"}`, 0, 9},
		}, "", []string{"gpu-07 GPU-a: ml/train-0/main 10", "gpu-07 GPU-b: free 10"}, nil},
		{"jobs of Slurm, two on one GPU", []kept{
			{util + `{UUID="GPU-a",Hostname="gpu-07",hpc_job="88"}`, 0, 9},
			{util + `{UUID="GPU-a",Hostname="gpu-07",hpc_job="89"}`, 0, 9},
			{util + `{UUID="GPU-b",Hostname="gpu-07"}`, 0, 9},
		}, "", []string{"gpu-07 GPU-a: 88 + 89 10", "gpu-07 GPU-b: free 10"}, nil},
		{"time slices: three pods, one with two containers", []kept{
			{util + `{UUID="GPU-a",Hostname="n",exported_pod="p1",exported_namespace="ml",exported_container="a",` + monitor + `}`, 0, 9},
			{util + `{UUID="GPU-a",Hostname="n",exported_pod="p1",exported_namespace="ml",exported_container="b",` + monitor + `}`, 0, 9},
			{util + `{UUID="GPU-a",Hostname="n",exported_pod="p2",exported_namespace="ml",exported_container="a",` + monitor + `}`, 0, 9},
			{"DCGM_FI_DEV_FB_USED" + `{UUID="GPU-a",Hostname="n",exported_pod="p3",exported_namespace="ml",exported_container="a",` + monitor + `}`, 5, 9},
		}, "", []string{"n GPU-a: ml/p1/a + ml/p1/b + ml/p2/a 5", "n GPU-a: ml/p1/a + ml/p1/b + ml/p2/a + ml/p3/a 5"}, nil},
		{"instances of a divided GPU", []kept{
			{util + `{UUID="GPU-a",GPU_I_ID="1",GPU_I_PROFILE="3g.40gb",Hostname="n",exported_pod="p1",exported_namespace="ml",exported_container="a",` + monitor + `}`, 0, 9},
			{util + `{UUID="GPU-a",GPU_I_ID="2",GPU_I_PROFILE="3g.40gb",Hostname="n",` + monitor + `}`, 0, 4},
		}, "", []string{"n GPU-a/1: ml/p1/a 10", "n GPU-a/2: free 5"}, []string{"n mig_changed GPU-a at 5: 1"}},
		{"two replicas behind Thanos", []kept{
			{util + `{UUID="GPU-a",Hostname="n",exported_pod="p1",exported_namespace="ml",exported_container="a",cluster="eu",replica="0",` + monitor + `}`, 0, 9},
			{util + `{UUID="GPU-a",Hostname="n",exported_pod="p1",exported_namespace="ml",exported_container="a",cluster="eu",replica="1",` + monitor + `}`, 3, 12},
		}, "", []string{"n GPU-a: ml/p1/a 13"}, nil},
		{"two clusters with boxes of one name", []kept{
			{util + `{UUID="GPU-a",Hostname="gpu-01",cluster="eu"}`, 0, 9},
			{util + `{UUID="GPU-b",Hostname="gpu-01",cluster="us"}`, 0, 9},
		}, "", []string{"gpu-01 GPU-a: not told 10", "gpu-01@us GPU-b: not told 10"}, nil},
		{"a server that reads another server", []kept{
			{util + `{UUID="GPU-a",Hostname="n",exported_job="dcgm",exported_instance="gpu-07:9400",job="federate",instance="prom:9090",exported_pod="nvidia-dcgm-exporter-x7k2p",pod="prometheus-0"}`, 0, 9},
			{util + `{UUID="GPU-b",Hostname="n",exported_job="dcgm",exported_instance="gpu-07:9400",job="federate",instance="prom:9090",exported_pod="train-0",exported_exported_pod="x",pod="prometheus-0",exported_namespace="ml"}`, 0, 9},
		}, "", []string{"n GPU-a: free 10", "n GPU-b: ml/train-0 10"}, nil},
		{"an exporter's pod is started again: its name and its address are others", []kept{
			{util + `{UUID="GPU-a",Hostname="nvidia-dcgm-exporter-x7k2p",` + monitor + `}`, 0, 4},
			{util + `{UUID="GPU-b",Hostname="nvidia-dcgm-exporter-x7k2p",` + monitor + `}`, 0, 4},
			{util + `{UUID="GPU-a",Hostname="nvidia-dcgm-exporter-bbbbb",` + strings.NewReplacer("x7k2p", "bbbbb", "0.7", "0.9").Replace(monitor) + `}`, 5, 9},
			{util + `{UUID="GPU-b",Hostname="nvidia-dcgm-exporter-bbbbb",` + strings.NewReplacer("x7k2p", "bbbbb", "0.7", "0.9").Replace(monitor) + `}`, 5, 9},
			{util + `{UUID="GPU-c",Hostname="nvidia-dcgm-exporter-bbbbb",` + strings.NewReplacer("x7k2p", "bbbbb", "0.7", "0.9").Replace(monitor) + `}`, 5, 9},
		}, "", []string{"nvidia-dcgm-exporter-x7k2p GPU-a: not told 10", "nvidia-dcgm-exporter-x7k2p GPU-b: not told 10", "nvidia-dcgm-exporter-x7k2p GPU-c: not told 5"}, []string{"nvidia-dcgm-exporter-x7k2p gpu_back GPU-c at 5: 0"}},
		{"a pod's name, then the node's", []kept{
			{util + `{UUID="GPU-a",Hostname="gpu-metrics-abcde",` + plugin + `}`, 0, 4},
			{util + `{UUID="GPU-a",Hostname="node-1",` + plugin + `}`, 5, 9},
		}, "", []string{"node-1 GPU-a: not told 10"}, nil},
		{"the node's name in a label of its own", []kept{
			{util + `{UUID="GPU-a",Hostname="gpu-metrics-abcde",node="node-1",` + plugin + `}`, 0, 4},
			{util + `{UUID="GPU-a",Hostname="gpu-metrics-fffff",node="node-1",` + strings.Replace(plugin, "abcde", "fffff", 1) + `}`, 5, 9},
		}, "", []string{"node-1 GPU-a: not told 10"}, nil},
		{"all boxes, over a change of labels", []kept{
			{"DCGM_FI_DEV_FB_USED" + `{UUID="GPU-a",instance="10.0.0.7:9400"}`, 0, 44},
			{"DCGM_FI_DEV_FB_USED" + `{UUID="GPU-a",Hostname="gpu-07",instance="10.0.0.9:9400"}`, 45, 59},
			{"DCGM_FI_DEV_FB_USED" + `{UUID="GPU-b",Hostname="gpu-08",instance="10.0.0.8:9400"}`, 0, 59},
		}, "", []string{"gpu-07 GPU-a: not told 60", "gpu-08 GPU-b: not told 60"}, nil},
		{"one box, by its last address", []kept{
			{"DCGM_FI_DEV_FB_USED" + `{UUID="GPU-a",instance="10.0.0.7:9400"}`, 0, 44},
			{"DCGM_FI_DEV_FB_USED" + `{UUID="GPU-a",Hostname="gpu-07",instance="10.0.0.9:9400"}`, 45, 59},
			{"DCGM_FI_DEV_FB_USED" + `{UUID="GPU-b",Hostname="gpu-08",instance="10.0.0.8:9400"}`, 0, 59},
		}, "10.0.0.9:9400", []string{"gpu-07 GPU-a: not told 60"}, nil},
		{"one box, by name, with what was before its labels were changed", []kept{
			{"DCGM_FI_DEV_FB_USED" + `{UUID="GPU-a",instance="10.0.0.7:9400"}`, 0, 44},
			{"DCGM_FI_DEV_FB_USED" + `{UUID="GPU-a",Hostname="gpu-07",instance="10.0.0.9:9400"}`, 45, 59},
			{"DCGM_FI_DEV_FB_USED" + `{UUID="GPU-b",Hostname="gpu-08",instance="10.0.0.8:9400"}`, 0, 59},
		}, "gpu-07", []string{"gpu-07 GPU-a: not told 60"}, nil},
		{"an hour without an exporter, and a GPU that it does not tell of", []kept{
			{util + `{UUID="GPU-a",Hostname="n"}`, 0, 9},
			{util + `{UUID="GPU-b",Hostname="n"}`, 0, 6},
			{util + `{UUID="GPU-a",Hostname="n",again="1"}`, 70, 79},
			{util + `{UUID="GPU-b",Hostname="n",again="1"}`, 72, 79},
		}, "", []string{"n GPU-a: not told 20", "n GPU-b: not told 15"}, []string{
			"n gpu_lost GPU-b at 7: 0", "n gap  at 9: 3600000000", "n gpu_back GPU-b at 72: 0",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			held, events := toldBy(t, c.series, 80, c.host)
			var got []string
			for _, text := range slices.Sorted(maps.Keys(held)) {
				got = append(got, fmt.Sprintf("%s %d", text, held[text]))
			}
			if !slices.Equal(got, c.want) || !slices.Equal(events, c.events) {
				t.Errorf("got\n%s\nwant\n%s\nevents %q, want %q", strings.Join(got, "\n"), strings.Join(c.want, "\n"), events, c.events)
			}
		})
	}
}

// Whatever labels a server has: each GPU is in one box at a time, with samples that could be.
func FuzzLabels(f *testing.F) {
	f.Add(util + `{UUID="GPU-a",Hostname="node-1",exported_pod="train-0",` + monitor + "}\n" + util + `{UUID="GPU-a",` + plugin + "}\nup{" + plugin + "}")
	f.Add(util + `{UUID="GPU-a",GPU_I_ID="1",cluster="eu",node="n"}` + "\n" + util + `{uuid="GPU-a",hostname="n",cluster="us"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var all []kept
		for i, line := range strings.Split(text, "\n") {
			if len(all) < 12 && strings.Contains(line, "{") {
				all = append(all, kept{line, i % 7, 5 + i%11})
			}
		}
		source, err := profile.Sources.Get("prometheus")
		if err != nil {
			t.Fatal(err)
		}
		s, err := source(profile.SourceOptions{
			Where: "http://prom", Every: time.Minute, Processes: time.Second, Range: serverOf(t, all),
			From: profile.InstantOf((keptBegin - 60).Std()), To: profile.InstantOf((keptBegin + 20*60).Std()),
		})
		if err != nil {
			t.Fatal(err)
		}
		for {
			var tick profile.Tick
			if s.Read(context.Background(), &tick) != nil {
				return
			}
			if s.Host() == "" {
				t.Fatal("a box without a name")
			}
			checkPlausible(t, &tick)
			seen := map[string]bool{}
			for i := range tick.Samples {
				if uuid := tick.Samples[i].Device.UUID; seen[uuid] {
					t.Fatalf("%s is twice in a tick", uuid)
				} else {
					seen[uuid] = true
				}
			}
			for _, p := range tick.Processes {
				if !seen[p.Device.UUID] {
					t.Fatalf("a holder of %s, which has no sample", p.Device.UUID)
				}
			}
		}
	})
}
