//go:build linux && cgo

package nvml

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"capcli/profile"
	"capcli/profile/judge"
)

// facts is what a load says that it did: the JSON of testdata/load.c.
type facts struct {
	Seconds      float64 `json:"seconds"`
	SMs          float64 `json:"sms"`
	SMsUsed      float64 `json:"sms_used"`
	Threads      float64 `json:"threads"`
	ThreadsPerSM float64 `json:"threads_per_sm"`
	MemoryBytes  float64 `json:"memory_bytes"` // read from and written to device memory
	ToGPU        float64 `json:"to_gpu_bytes"`
	FromGPU      float64 `json:"from_gpu_bytes"`
	Held         float64 `json:"held_bytes"`
}

// share is the part of the multiprocessors that worked.
func (f *facts) share() float64 { return f.SMsUsed / f.SMs }

// rate gives bytes in MiB/s.
func (f *facts) rate(bytes float64) float64 { return bytes / f.Seconds / (1 << 20) }

// ranges are the values that the mean of a metric may have while a load runs.
type ranges map[profile.Metric][2]float64

// gpuLoad is a load whose figures are known before they are measured.
type gpuLoad struct {
	name, kind string
	amount     func(sms int) int64
	// want gives what the load must show, from what it says that it did.
	want func(f *facts, d *profile.Device) ranges
	// verdicts are those that a recording of the load may have; none is any.
	verdicts []judge.Kind
}

const (
	contextBytes = 2 << 30 // the most that a program holds beside what it asked for
	nothing      = 1.0     // %, of a unit that has nothing to do
	idleLink     = 300.0   // MiB/s, of a link that has nothing to do
)

// quiet are the ranges of units that a load leaves alone.
func quiet(r ranges, units ...profile.Metric) ranges {
	for _, m := range units {
		r[m] = [2]float64{0, nothing}
	}
	return r
}

// arithmeticLoad keeps one kind of arithmetic busy on all multiprocessors. Least is the share of time in
// which the pipe must work.
func arithmeticLoad(kind string, pipe profile.Metric, least float64, verdicts ...judge.Kind) gpuLoad {
	return gpuLoad{name: kind + " arithmetic on every SM", kind: kind, verdicts: verdicts, want: func(*facts, *profile.Device) ranges {
		r := ranges{profile.UtilGPU: {95, 100}, profile.SMActive: {95, 100}, profile.DRAMActive: {0, 3}}
		quiet(r, profile.FP64Active, profile.FP32Active, profile.FP16Active, profile.TensorActive)
		r[pipe] = [2]float64{least, 100}
		return r
	}}
}

// gpuLoads are the loads of the check, in the order in which they run.
var gpuLoads = []gpuLoad{
	{
		name: "8 GiB held, nothing done", kind: "hold", amount: func(int) int64 { return 8 << 30 },
		want: func(f *facts, _ *profile.Device) ranges {
			return quiet(ranges{profile.MemUsed: {f.Held, f.Held + contextBytes}, profile.PCIeTx: {0, idleLink}, profile.PCIeRx: {0, idleLink}},
				profile.UtilGPU, profile.SMActive, profile.SMOccupancy, profile.TensorActive, profile.DRAMActive, profile.FP64Active, profile.FP32Active, profile.FP16Active)
		},
		verdicts: []judge.Kind{judge.NeverBusy, judge.MostlyIdle},
	},
	spinLoad("half of the SMs", func(sms int) int64 { return int64(sms / 2) }),
	spinLoad("one SM", func(int) int64 { return 1 }),
	arithmeticLoad("fp16", profile.FP16Active, 20),
	arithmeticLoad("fp32", profile.FP32Active, 40),
	arithmeticLoad("fp64", profile.FP64Active, 40),
	arithmeticLoad("tensor", profile.TensorActive, 20),
	{
		name: "device memory copied", kind: "stream",
		want: func(f *facts, d *profile.Device) ranges {
			v := 100 * f.MemoryBytes / f.Seconds / d.PeakMemBytesPerS
			return quiet(ranges{profile.UtilGPU: {95, 100}, profile.SMActive: {80, 100}, profile.DRAMActive: {0.88*v - 2, min(100, 1.12*v+4)}}, profile.TensorActive, profile.FP64Active)
		},
		verdicts: []judge.Kind{judge.MemoryBound},
	},
	{
		name: "copies to the GPU", kind: "in",
		want: func(f *facts, _ *profile.Device) ranges {
			v := f.rate(f.ToGPU)
			return quiet(ranges{profile.PCIeRx: {0.85 * v, 1.25 * v}, profile.PCIeTx: {0, 0.3 * v}}, profile.SMActive, profile.TensorActive)
		},
	},
	{
		name: "copies from the GPU", kind: "out",
		want: func(f *facts, _ *profile.Device) ranges {
			v := f.rate(f.FromGPU)
			return quiet(ranges{profile.PCIeTx: {0.85 * v, 1.25 * v}, profile.PCIeRx: {0, 0.3 * v}}, profile.SMActive, profile.TensorActive)
		},
	},
}

// spinLoad has threads on some multiprocessors that only look at the clock.
func spinLoad(name string, amount func(sms int) int64, verdicts ...judge.Kind) gpuLoad {
	return gpuLoad{name: "a loop on " + name, kind: "spin", amount: amount, verdicts: verdicts, want: func(f *facts, _ *profile.Device) ranges {
		sm := 100 * f.share()
		occupancy := sm * f.Threads / f.ThreadsPerSM
		near := max(0.5, 0.04*sm)
		return quiet(ranges{
			profile.UtilGPU: {95, 100}, profile.SMActive: {sm - near, sm + near}, profile.SMOccupancy: {occupancy - near, occupancy + near}, profile.DRAMActive: {0, 3},
			profile.MemUsed: {0, contextBytes},
		}, profile.TensorActive, profile.FP64Active, profile.FP32Active, profile.FP16Active)
	}}
}

// loader starts the loads of testdata/load.c on one GPU.
type loader struct{ program, bus string }

func newLoader(t *testing.T, d *profile.Device) *loader {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Fatal("the check wants gcc to compile its loads with")
	}
	l := &loader{filepath.Join(t.TempDir(), "load"), d.Bus}
	if len(l.bus) > len("0000:19:00.0") { // NVML writes the domain with eight digits, CUDA reads four
		l.bus = l.bus[len(l.bus)-len("0000:19:00.0"):]
	}
	if out, err := exec.Command(gcc, "-std=gnu11", "-O1", "-o", l.program, filepath.Join("testdata", "load.c"), "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("compile the loads: %v\n%s", err, out)
	}
	return l
}

// start starts a load and returns when it runs. wait returns what it did, when it is over.
func (l *loader) start(x *gpuLoad, sms int, length time.Duration) (pid int, wait func() (facts, error), err error) {
	args := []string{l.bus, x.kind, strconv.FormatFloat(length.Seconds(), 'f', -1, 64)}
	if x.amount != nil {
		args = append(args, strconv.FormatInt(x.amount(sms), 10))
	}
	cmd := exec.Command(l.program, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, nil, err
	}
	var said tail
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	in := bufio.NewReader(out)
	if line, err := in.ReadString('\n'); err != nil || line != "begin\n" {
		_ = cmd.Wait() // what it said tells more
		return 0, nil, fmt.Errorf("load %s: %s", x.kind, said)
	}
	return cmd.Process.Pid, func() (f facts, err error) {
		text, err := io.ReadAll(in)
		if e := cmd.Wait(); e != nil {
			return f, fmt.Errorf("load %s: %w: %s", x.kind, e, said)
		}
		if err == nil {
			err = json.Unmarshal(text, &f)
		}
		return f, err
	}, nil
}

// tail keeps the last bytes written to it.
type tail []byte

func (b *tail) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	*b = (*b)[max(0, len(*b)-1000):]
	return len(p), nil
}
