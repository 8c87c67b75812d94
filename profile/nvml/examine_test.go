//go:build linux && cgo

package nvml

import (
	"strings"
	"testing"

	"capcli/profile"
)

func find(r Report, name string) (found []Check) {
	for _, c := range r.Checks {
		if c.Name == name {
			found = append(found, c)
		}
	}
	return found
}

func TestFakeExamine(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		root := procRoot()
		root["proc/driver/nvidia/version"] = file("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build\n")
		root["proc/driver/nvidia/params"] = file("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n")
		f.set("1.mig", 1, "1/0.profile", "1g.10gb", "1/0.gi", 7, "1/0.total", 10*gib, "1/0.used", gib, "1/0.reserved", 0,
			"fail nvmlGpmSampleGet 0", 4, "fail nvmlDeviceGetFanSpeed *", 3, "fail nvmlDeviceGetComputeRunningProcesses_v3 0", 4, "0.events", 8,
			"0.rows", 3, "0.pending", 1)
		l, c := findLibrary(f.library, root)
		if c != success {
			t.Fatal(c)
		}
		r := examine(l, profile.SourceOptions{}, f.box(root))
		if !r.OK || r.Host != "box-1" || r.Driver != "550.54.15" || r.Module != "550.54.15" || r.NVML != "12.550.54.15" || r.Library != f.library {
			t.Errorf("report %+v", r)
		}
		if len(r.GPUs) != 2 {
			t.Fatalf("%d GPUs, want 2", len(r.GPUs))
		}
		a, b := r.GPUs[0], r.GPUs[1]
		if a.Device.UUID != gpu0 || a.MIG || a.Processes != profile.NoPermission || a.GPM != profile.Known || a.ECCEvents {
			t.Errorf("GPU 0 %+v", a)
		}
		if a.RemappedRows != 4 || !a.RemapPending || a.RemapFailed || b.RemappedRows != 0 {
			t.Errorf("memory of GPU 0: %+v, of GPU 1: %+v", a, b)
		}
		if a.Why[profile.SMActive] != profile.NoPermission || a.Why[profile.Fan] != profile.Unsupported || a.Why[profile.UtilGPU] != profile.Known || a.Why[profile.PCIeTx] != profile.Known {
			t.Errorf("GPU 0 tells %v", a.Why)
		}
		if !b.MIG || len(b.Instances) != 1 || b.Instances[0].Device.Profile != "1g.10gb" || b.Instances[0].Why[profile.MemUsed] != profile.Known || b.Why[profile.UtilGPU] != profile.UnderMIG {
			t.Errorf("GPU 1 %+v", b)
		}
		var texts []string
		for _, c := range r.Checks {
			texts = append(texts, c.Name+" "+string(c.State)+": "+c.Text+" | "+c.Fix)
		}
		all := strings.Join(texts, "\n")
		for _, want := range []string{
			"metrics partly: no permission: sm_active_pct", "NVreg_RestrictProfilingToAdminUsers=0",
			"metrics partly: not supported: temp_mem_c, fan_pct", "metrics partly: divided by MIG: util_gpu_pct",
			"profiling partly: the driver keeps profiling counters", "processes ok: by user", "events partly: GPU " + gpu0,
			"memory partly: GPU " + gpu0,
		} {
			if !strings.Contains(all, want) {
				t.Errorf("no %q in\n%s", want, all)
			}
		}
	})
}

func TestFakeExamineInAContainer(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		root := procRoot()
		delete(root, "proc/self/ns/pid")
		l, _ := findLibrary(f.library, root)
		f.set("count", 1, "init", 18)
		r := examine(l, profile.SourceOptions{}, f.box(root))
		if r.OK || len(r.Checks) != 1 || r.Checks[0].State != Bad || !strings.Contains(r.Checks[0].Fix, "reboot") {
			t.Errorf("report %+v, want the mismatch", r)
		}
		f.set("init", nil)
		l, _ = findLibrary(f.library, root)
		r = examine(l, profile.SourceOptions{}, f.box(root))
		if c := find(r, "processes"); !r.OK || len(c) != 1 || c[0].State != Partly || !strings.Contains(c[0].Fix, "hostPID") {
			t.Errorf("report %+v, want processes by number alone", r)
		}
		if c := find(r, "profiling"); len(c) != 0 {
			t.Errorf("checks %+v: nothing is known of a restriction", c)
		}
	})
}
