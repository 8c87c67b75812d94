package profile_test

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"capcli/profile"
	"capcli/profile/judge"
)

// recordedDuty is the GPU duty cycle of each pod of a service that generates pictures, about once a
// minute for a day (Alibaba clusterdata, generative AI serving, 2026).
const recordedDuty = "../../shared/data/alibaba/pod_gpu_duty_cycle_anon.csv.gz"

type duty struct{ at, pct float64 }

func readDuty(t *testing.T) map[string][]duty {
	f, err := os.Open(recordedDuty)
	if err != nil {
		t.Skip("no recorded duty cycles here")
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]duty{}
	for _, r := range rows[1:] {
		pct, _ := strconv.ParseFloat(r[0], 64)
		at, _ := strconv.ParseFloat(r[1], 64)
		out[r[2]] = append(out[r[2]], duty{at, pct})
	}
	for _, d := range out {
		slices.SortFunc(d, func(a, b duty) int { return cmp.Compare(a.at, b.at) })
	}
	return out
}

// Recorded pods that serve requests, of which nothing but utilisation is known and that once a minute:
// none is said to lack input, to hang or to wait on a link. Known as a server, a pod with few requests is
// lightly loaded and not idle.
func TestRecordedServing(t *testing.T) {
	unnamed, named := map[judge.Kind]int{}, map[judge.Kind]int{}
	for pod, d := range readDuty(t) {
		for command, count := range map[string]map[judge.Kind]int{"python app.py": unnamed, "vllm serve m": named} {
			z := profile.NewSummarizer(nil)
			dev := &profile.Device{UUID: "GPU-" + pod, Model: "NVIDIA A10", GI: -1, CI: -1}
			for _, x := range d {
				tick := profile.Tick{At: profile.Instant(x.at * 1e6), Every: 57 * time.Second, LookedAtProcesses: true}
				s := tick.NextSample(dev)
				s.Set(profile.UtilGPU, x.pct)
				tick.Processes = append(tick.Processes, profile.Process{Device: dev, Pod: pod, Namespace: "serving", Command: command})
				z.Add("box", &tick)
			}
			count[z.Summary().Jobs[0].Judge().Kind]++
		}
	}
	for _, k := range []judge.Kind{judge.Starved, judge.Stuck, judge.CommBound, judge.CommBetween, judge.CommInNode, judge.HostTransfer, judge.PowerCap, judge.MemoryBound} {
		if unnamed[k]+named[k] > 0 {
			t.Errorf("%d pods are %s", unnamed[k]+named[k], k)
		}
	}
	if named[judge.MostlyIdle] > 0 {
		t.Errorf("%d servers are mostly idle", named[judge.MostlyIdle])
	}
	t.Logf("unnamed %v, named as a server %v", unnamed, named)
}
