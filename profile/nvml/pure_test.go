package nvml

import (
	"math"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"capcli/profile"
)

func TestRate(t *testing.T) {
	const second = time.Second
	tests := []struct {
		name  string
		count []uint64 // one a second
		want  float64
		why   profile.Reason
	}{
		{"the first", []uint64{5}, 0, profile.First},
		{"growing", []uint64{5, 105}, 100, profile.Known},
		{"still", []uint64{5, 5}, 0, profile.Known},
		{"fell", []uint64{500, 5}, 0, profile.First},
		{"after a fall", []uint64{500, 5, 30}, 25, profile.Known},
		{"fell three times", []uint64{9, 8, 7, 6, 7}, 0, profile.OutOfRange},
		{"large", []uint64{math.MaxUint64 - 10, math.MaxUint64}, 10, profile.Known},
	}
	for _, tt := range tests {
		var r rate
		var got float64
		var why profile.Reason
		for i, c := range tt.count {
			got, why = r.takeCount(c, time.Duration(i)*second)
		}
		if got != tt.want || why != tt.why {
			t.Errorf("%s: %v (%s), want %v (%s)", tt.name, got, why, tt.want, tt.why)
		}
	}
	var r rate
	r.takeCount(1, second)
	if _, why := r.takeCount(2, second); why != profile.First {
		t.Errorf("two counts at one time: %s", why)
	}
	r.forget()
	if _, why := r.takeCount(100, 2*second); why != profile.First {
		t.Errorf("after forgetting: %s", why)
	}
}

// Every metric has a range, and nothing beyond it is put.
func TestPutHoldsTheRange(t *testing.T) {
	for m := range profile.NumMetrics {
		if most[m] <= 0 {
			t.Errorf("%s has no limit", m)
		}
		for _, v := range []float64{math.NaN(), math.Inf(1), -1, math.MaxUint64, most[m]*1.02 + 1} {
			var s profile.Sample
			put(&s, m, v)
			if s.Why[m] != profile.OutOfRange || s.Values[m] != 0 {
				t.Errorf("%s of %v is put as %v (%s)", m, v, s.Values[m], s.Why[m])
			}
		}
		var s profile.Sample
		s.Clear(profile.NotAsked)
		put(&s, m, most[m])
		if s.Why[m] != profile.Known {
			t.Errorf("%s of its most, %v: %s", m, most[m], s.Why[m])
		}
	}
}

func TestCodes(t *testing.T) {
	tests := []struct {
		c    code
		text string
		why  profile.Reason
	}{
		{0, "success (0)", profile.Known},
		{3, "not supported (3)", profile.Unsupported},
		{4, "no permission (4)", profile.NoPermission},
		{10, "timeout (10)", profile.Timeout},
		{13, "function not found (13)", profile.NoSymbol},
		{15, "GPU lost (15)", profile.Lost},
		{18, "driver and library versions differ (18)", profile.Lost},
		{999, "unknown error (999)", profile.Failed},
		{12345, "return code (12345)", profile.Failed},
	}
	for _, tt := range tests {
		if tt.c.String() != tt.text || tt.c.reason() != tt.why {
			t.Errorf("%d: %q, %s; want %q, %s", int(tt.c), tt.c, tt.c.reason(), tt.text, tt.why)
		}
	}
}

func TestDiagnose(t *testing.T) {
	driver := fstest.MapFS{"proc/driver/nvidia/version": file("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build  (x)\n")}
	tests := []struct {
		name string
		c    code
		root fstest.MapFS
		want []string
	}{
		{"no driver at all", libraryNotFound, fstest.MapFS{}, []string{"no NVIDIA driver is loaded", "--source fake"}},
		{"no library in a container", libraryNotFound, driver, []string{"driver 570.86.15 is loaded", "--gpus all", "--source smi"}},
		{"mismatch", mismatch, driver, []string{"kernel module is 570.86.15", "reboot"}},
		{"not loaded", notLoaded, fstest.MapFS{}, []string{"modprobe nvidia"}},
		{"permission", noPermission, driver, []string{"/dev/nvidiactl"}},
		{"lost", gpuLost, driver, []string{"fell off the bus", "reset"}},
		{"other", 20, driver, []string{"out of memory (20)", "NVRM"}},
		{"no such function", functionMissing, driver, []string{"lacks what every version has"}},
	}
	for _, tt := range tests {
		got := diagnose(tt.c, tt.root, "")
		for _, w := range tt.want {
			if !strings.Contains(got.Error(), w) || !strings.Contains(got.What, "libnvidia-ml.so.1") || got.Hint() == "" {
				t.Errorf("%s: %q, want %q in it", tt.name, got, w)
			}
		}
	}
}

func TestModuleVersion(t *testing.T) {
	tests := []struct{ text, want string }{
		{"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\nGCC version:  gcc 12\n", "535.183.01"},
		{"NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.65.06  Release Build\n", "580.65.06"},
		{"something else 1.2.3\n", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := moduleVersion(fstest.MapFS{"proc/driver/nvidia/version": file(tt.text)}); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestProfilingForAdmins(t *testing.T) {
	tests := []struct {
		params      string
		only, known bool
	}{
		{"Mobile: 4294967295\nRmProfilingAdminOnly: 1\n", true, true},
		{"RmProfilingAdminOnly: 0\n", false, true},
		{"Mobile: 1\n", false, false},
		{"", false, false},
	}
	for _, tt := range tests {
		if only, known := profilingForAdmins(fstest.MapFS{"proc/driver/nvidia/params": file(tt.params)}); only != tt.only || known != tt.known {
			t.Errorf("%q: %v %v, want %v %v", tt.params, only, known, tt.only, tt.known)
		}
	}
}

// PCIe 3, 4 and 5 with 16 lanes carry 15.75, 31.5 and 63 GB/s in one direction.
func TestLinkPeaks(t *testing.T) {
	for _, c := range []struct {
		generation, width int
		gbPerS            float64
	}{{1, 16, 4}, {2, 16, 8}, {3, 16, 15.754}, {4, 16, 31.508}, {5, 16, 63.015}, {6, 16, 121}, {3, 1, 0.985}, {0, 16, 0}, {99, 16, 0}, {5, 0, 0}, {-1, -1, 0}} {
		if got := profile.PCIeMiBPerS(c.generation, c.width) * (1 << 20) / 1e9; math.Abs(got-c.gbPerS) > 0.002 {
			t.Errorf("generation %d with %d lanes: %v GB/s, want %v", c.generation, c.width, got, c.gbPerS)
		}
	}
	if got := nvlinkMiBPerS(18, nvlinkMBPerS[6]) * (1 << 20) / 1e9; math.Abs(got-450) > 0.001 {
		t.Errorf("an H100's links: %v GB/s", got)
	}
}
