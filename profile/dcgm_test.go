package profile_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
)

// fetchTexts is a Fetch that gives each text once, then the last again.
func fetchTexts(texts ...string) func(context.Context, string) (io.ReadCloser, error) {
	i := -1
	return func(context.Context, string) (io.ReadCloser, error) {
		i = min(i+1, len(texts)-1)
		return io.NopCloser(strings.NewReader(texts[i])), nil
	}
}

func open(t *testing.T, source string, o profile.SourceOptions) profile.Source {
	t.Helper()
	entry, err := profile.Sources.Get(source)
	if err != nil {
		t.Fatal(err)
	}
	s, err := entry(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, s profile.Source) *profile.Tick {
	t.Helper()
	tick := &profile.Tick{At: noon}
	if err := s.Read(context.Background(), tick); err != nil {
		t.Fatal(err)
	}
	return tick
}

// want is a value, or the reason that there is none.
type want struct {
	metric profile.Metric
	value  float64
	why    profile.Reason
}

func checkSample(t *testing.T, s *profile.Sample, wants ...want) {
	t.Helper()
	for _, w := range wants {
		v, ok := s.Get(w.metric)
		if s.Why[w.metric] != w.why || ok && math.Abs(v-w.value) > 1e-9*math.Abs(w.value) {
			t.Errorf("%s: %v is %v (%v), want %v (%v)", s.Device.UUID, w.metric, v, s.Why[w.metric], w.value, w.why)
		}
	}
}

const dcgm3 = `# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-b",pci_bus_id="00000000:4C:00.0",device="nvidia1",modelName="NVIDIA A100-SXM4-80GB",Hostname="node-7",DCGM_FI_DRIVER_VERSION="535.161.08",container="main",namespace="ml",pod="train-0"} 97
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA A100-SXM4-80GB",Hostname="node-7",container="",namespace="",pod=""} 0
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-b"} 70000
DCGM_FI_DEV_FB_FREE{gpu="1",UUID="GPU-b"} 10554
DCGM_FI_DEV_FB_RESERVED{gpu="1",UUID="GPU-b"} 600
DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-b"} 287.412000
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="1",UUID="GPU-b"} 123456789
DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{gpu="1",UUID="GPU-b"} 0.412300
DCGM_FI_PROF_SM_ACTIVE{gpu="1",UUID="GPU-b"} 1.004
DCGM_FI_PROF_DRAM_ACTIVE{gpu="1",UUID="GPU-b"} 1.9
DCGM_FI_PROF_PCIE_TX_BYTES{gpu="1",UUID="GPU-b"} 104857600
DCGM_FI_DEV_MEMORY_TEMP{gpu="1",UUID="GPU-b"} 9223372036854775794
DCGM_FI_DEV_FAN_SPEED{gpu="1",UUID="GPU-b"} 2147483632
DCGM_FI_DEV_SM_CLOCK{gpu="1",UUID="GPU-b"} 140737488355328.0
DCGM_FI_DEV_XID_ERRORS{gpu="1",UUID="GPU-b"} 31
`

func TestDCGM(t *testing.T) {
	later := strings.Replace(dcgm3, `GPU-b"} 31`, `GPU-b"} 79`, 1)
	s := open(t, "dcgm", profile.SourceOptions{Where: "metrics", Fetch: fetchTexts(dcgm3, dcgm3, later, later), Processes: time.Second})
	if got := s.Host(); got != "node-7" {
		t.Errorf("host is %q, want node-7", got)
	}
	tick := read(t, s)
	if len(tick.Samples) != 2 || tick.Samples[0].Device.UUID != "GPU-a" || tick.Samples[1].Device.Model != "NVIDIA A100-SXM4-80GB" {
		t.Fatalf("got %d samples in another order than that of the GPUs", len(tick.Samples))
	}
	checkSample(
		t, &tick.Samples[1],
		want{profile.UtilGPU, 97, profile.Known},
		want{profile.MemUsed, 70000 << 20, profile.Known},
		want{profile.MemTotal, (70000 + 10554 + 600) << 20, profile.Known},
		want{profile.Power, 287.375, profile.Known},
		want{profile.Energy, 123457, profile.Known},
		want{profile.TensorActive, 41.25, profile.Known},
		want{profile.SMActive, 100, profile.Known}, // rounding up a little is what the counters do
		want{profile.DRAMActive, 0, profile.OutOfRange},
		want{profile.PCIeTx, 100, profile.Known},
		want{profile.MemTemp, 0, profile.Unsupported}, // three blanks
		want{profile.Fan, 0, profile.Unsupported},
		want{profile.ClockSM, 0, profile.Unsupported},
		want{profile.NVLinkTx, 0, profile.Unsupported}, // not in the file
	)
	checkSample(t, &tick.Samples[0], want{profile.UtilGPU, 0, profile.Known}, want{profile.MemUsed, 0, profile.Unsupported})
	if len(tick.Events) != 0 {
		t.Errorf("an Xid from before is told as new: %+v", tick.Events)
	}
	if len(tick.Processes) != 1 || tick.Processes[0].Pod != "train-0" || tick.Processes[0].Namespace != "ml" || tick.Processes[0].Device.UUID != "GPU-b" {
		t.Errorf("got %+v, want the pod train-0 on GPU-b", tick.Processes)
	}
	if tick = read(t, s); len(tick.Events) != 1 || tick.Events[0].Kind != profile.Xid || tick.Events[0].Value != 79 {
		t.Errorf("got events %+v, want Xid 79", tick.Events)
	}
	if tick = read(t, s); len(tick.Events) != 0 {
		t.Errorf("Xid 79 is told twice")
	}
}

// Two spellings of one field, and a ratio that DCGM 4.6 gives as a percent and
// 4.7 as a share.
func TestDCGMNames(t *testing.T) {
	line := func(name, uuid, value string) string {
		return name + `{gpu="0",uuid="` + uuid + `",hostname="n"} ` + value + "\n"
	}
	for _, c := range []struct {
		name, text string
		wants      []want
	}{
		{"4.6 percent", line("DCGM_FI_DEV_GPU_UTIL_RATIO", "GPU-a", "37"), []want{{profile.UtilGPU, 37, profile.Known}}},
		{"4.7 share", line("DCGM_FI_DEV_GPU_UTIL_RATIO", "GPU-a", "0.37"), []want{{profile.UtilGPU, 37, profile.Known}}},
		{"a 1 beside a share", line("DCGM_FI_DEV_GPU_UTIL_RATIO", "GPU-a", "1") + line("DCGM_FI_DEV_GPU_UTIL_RATIO", "GPU-b", "0.5"), []want{{profile.UtilGPU, 100, profile.Known}}},
		{"a 1 beside a percent", line("DCGM_FI_DEV_GPU_UTIL_RATIO", "GPU-a", "1") + line("DCGM_FI_DEV_GPU_UTIL_RATIO", "GPU-b", "50"), []want{{profile.UtilGPU, 1, profile.Known}}},
		{"a 1 alone", line("DCGM_FI_DEV_GPU_UTIL_RATIO", "GPU-a", "1"), []want{{profile.UtilGPU, 0, profile.OutOfRange}}},
		{"the old name wins", line("DCGM_FI_DEV_GPU_UTIL_RATIO", "GPU-a", "0.2") + line("DCGM_FI_DEV_GPU_UTIL", "GPU-a", "20"), []want{{profile.UtilGPU, 20, profile.Known}}},
		{"engine where utilisation lacks", line("DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", "GPU-a", "0.81"), []want{{profile.UtilGPU, 81, profile.Known}}},
		{
			"new names", line("DCGM_FI_PROF_SM_UTIL_RATIO", "GPU-a", "0.5") + line("DCGM_FI_PROF_TENSOR_UTIL_RATIO", "GPU-a", "0.25") + line("DCGM_FI_DEV_BOARD_POWER_WATTS", "GPU-a", "300"),
			[]want{{profile.SMActive, 50, profile.Known}, {profile.TensorActive, 25, profile.Known}, {profile.Power, 300, profile.Known}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, "dcgm", profile.SourceOptions{Where: "metrics", Fetch: fetchTexts(c.text)})
			checkSample(t, &read(t, s).Samples[0], c.wants...)
		})
	}
}

// Instances of a divided GPU are devices of their own.
func TestDCGMInstances(t *testing.T) {
	text := `DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-a",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7"} 0.5
DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-a",GPU_I_PROFILE="2g.20gb",GPU_I_ID="3"} 0.25
`
	tick := read(t, open(t, "dcgm", profile.SourceOptions{Where: "metrics", Fetch: fetchTexts(text)}))
	if len(tick.Samples) != 2 {
		t.Fatalf("got %d samples, want 2", len(tick.Samples))
	}
	d := tick.Samples[0].Device
	if !d.MIG() || d.GI != 3 || d.Profile != "2g.20gb" || d.Parent != "GPU-a" || d.UUID == tick.Samples[1].Device.UUID {
		t.Errorf("got %+v, want the instance 3 of GPU-a", d)
	}
}

func TestDCGMBadInput(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
	}{
		{"no GPU", "up 1\n", "expected metrics of a GPU"},
		{"a web page", "<html>\n", "expected a metric"},
		{"not a number", `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a"} many`, "expected a number"},
		{"labels that do not end", `DCGM_FI_DEV_GPU_UTIL{gpu="0",`, "do not end"},
		{"label that does not end", `DCGM_FI_DEV_GPU_UTIL{gpu="0`, "does not end"},
		{"no value", `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a"}`, "expected a value"},
		{"a line without end", strings.Repeat("x", 2<<20), "longer than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			open, _ := profile.Sources.Get("dcgm")
			_, err := open(profile.SourceOptions{Where: "metrics", Fetch: fetchTexts(c.text)})
			var bad *capcli.InputError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || bad.File != "metrics" {
				t.Errorf("got %v, want an error about the input with %q", err, c.want)
			}
		})
	}
}

// A page of many GPUs is read in a time that grows with it, in the order of their
// numbers and UUIDs; one of too many is refused, and one that takes long ends when
// its context does.
func TestDCGMOfManyGPUs(t *testing.T) {
	page := func(gpus, fields int) string {
		var b strings.Builder
		for f := range fields {
			for g := range gpus {
				fmt.Fprintf(&b, "DCGM_FI_DEV_FIELD_%d{gpu=\"%d\",UUID=\"GPU-%06d\"} 1\n", f, g%8, gpus-g)
			}
		}
		return b.String()
	}
	s := open(t, "dcgm", profile.SourceOptions{Where: "metrics", Fetch: fetchTexts(page(9_000, 23))}) // 207,000 series
	tick := read(t, s)
	if len(tick.Samples) != 9_000 {
		t.Fatalf("%d samples, want 9,000", len(tick.Samples))
	}
	for i := range tick.Samples[1:] {
		a, b := tick.Samples[i].Device, tick.Samples[i+1].Device
		if a.Index > b.Index || a.Index == b.Index && a.UUID >= b.UUID {
			t.Fatalf("GPU %d %s stands before %d %s", a.Index, a.UUID, b.Index, b.UUID)
		}
	}
	sources, err := profile.Sources.Get("dcgm")
	if err != nil {
		t.Fatal(err)
	}
	var input *capcli.InputError
	if _, err := sources(profile.SourceOptions{Where: "metrics", Fetch: fetchTexts(page(10_001, 1))}); !errors.As(err, &input) || input.Line != 10_001 || input.Hint == "" {
		t.Errorf("10,001 GPUs: %v", err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	enough := errors.New("enough")
	stop(enough)
	if err := s.Read(ctx, &profile.Tick{}); !errors.Is(err, enough) {
		t.Errorf("a read that was stopped: %v", err)
	}
	// GPUs that are no more make room for others.
	var pages []string
	for i := range 5 {
		pages = append(pages, strings.ReplaceAll(page(9_000, 1), "GPU-", fmt.Sprintf("GPU-%d-", i)))
	}
	s = open(t, "dcgm", profile.SourceOptions{Where: "metrics", Fetch: fetchTexts(append(pages[:1:1], pages...)...)})
	for i := range pages {
		tick := &profile.Tick{At: noon}
		if err := s.Read(t.Context(), tick); i < 1 && err != nil {
			t.Fatalf("page %d: %v", i, err)
		}
	}
	if n := len(read(t, s).Samples); n != 9_000 {
		t.Errorf("%d samples after all have changed, want 9,000", n)
	}
}

func FuzzDCGM(f *testing.F) {
	f.Add(dcgm3)
	f.Add("a{b=\"\\\"\\n\\\\\\x\"} 1 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		open, _ := profile.Sources.Get("dcgm")
		s, err := open(profile.SourceOptions{Where: "metrics", Fetch: fetchTexts(text)})
		if err != nil {
			return
		}
		var tick profile.Tick
		if err := s.Read(context.Background(), &tick); err != nil {
			t.Fatalf("what was read once cannot be read again: %v", err)
		}
		checkPlausible(t, &tick)
	})
}

// checkPlausible holds what no source may break: values only where they are
// known, none negative or beyond its range.
func checkPlausible(t *testing.T, tick *profile.Tick) {
	t.Helper()
	for i := range tick.Samples {
		for m := range profile.NumMetrics {
			v, ok := tick.Samples[i].Get(m)
			switch {
			case !ok && v != 0:
				t.Fatalf("%v has a value and a reason to have none", m)
			case !(v >= 0) || math.IsInf(v, 0):
				t.Fatalf("%v is %v", m, v)
			case ok && profile.Metrics[m].Unit == "%" && m != profile.Fan && v > 100:
				t.Fatalf("%v is %v", m, v)
			}
		}
	}
}
