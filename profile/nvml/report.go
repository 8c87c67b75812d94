package nvml

import (
	"io/fs"
	"strings"

	"capcli/profile"
)

// Report lists what can be measured on this box, and what is missing and why.
type Report struct {
	Host    string
	OK      bool   // GPUs can be sampled
	Library string // file of the library that was loaded
	Driver  string // version of the driver, from the library
	Module  string // version of the kernel module; "" where none is loaded
	NVML    string // version of the library
	GPUs    []GPUReport
	Checks  []Check
}

// Check is the result of one check.
type Check struct {
	Name  string `json:"name"` // "driver", "events", …
	State State  `json:"state"`
	Text  string `json:"text"` // what was found
	Fix   string `json:"fix"`  // what to do; "" where nothing is to be done
}

// State is the outcome of a check.
type State string

// The states.
const (
	Good   State = "ok"
	Partly State = "partly" // a part cannot be measured
	Bad    State = "missing"
)

// GPUReport is what can be measured of a GPU.
type GPUReport struct {
	Device    profile.Device
	MIG       bool // MIG divides the GPU
	Instances []InstanceReport
	Why       [profile.NumMetrics]profile.Reason // Known for a metric that has a value, else the reason
	Processes profile.Reason                     // the same for the list of processes
	GPM       profile.Reason
	ECCEvents bool
	// RemappedRows is the number of memory rows replaced by spare rows. RemapPending says that
	// the next reset replaces more, RemapFailed that no spare row was left.
	RemappedRows              int
	RemapPending, RemapFailed bool
}

// repair is the row remapping of the memory of a GPU: rows remapped, more pending, and failed for
// lack of spare rows.
type repair struct {
	rows            int
	pending, failed bool
}

// InstanceReport is what can be measured of a MIG instance.
type InstanceReport struct {
	Device profile.Device
	Why    [profile.NumMetrics]profile.Reason
}

// boxReport returns a report of what is known without the library.
func boxReport(out outside) Report {
	return Report{Host: out.host, Module: moduleVersion(out.root)}
}

func (r *Report) add(name string, s State, text, fix string) {
	r.Checks = append(r.Checks, Check{name, s, text, fix})
}

// judge adds the checks that follow from the fields of the report.
func (r *Report) judge(root fs.FS) {
	r.add("driver", Good, "driver "+r.Driver+", library "+r.Library, "")
	if r.Module != "" && r.Module != r.Driver {
		r.add("driver", Partly, "the kernel's driver is "+r.Module+", the library's "+r.Driver, "reboot to have both of one version")
	}
	r.judgeMetrics(root)
	if hostPIDs(root) {
		r.add("processes", Good, "by user, command, container, pod and job", "")
	} else {
		r.add("processes", Partly, "by number alone: /proc shows other processes than the driver counts",
			"run in the host's PID namespace (docker --pid host, hostPID: true)")
	}
	for i := range r.GPUs {
		g := &r.GPUs[i]
		switch {
		case g.RemapFailed:
			r.add("memory", Bad, "GPU "+g.Device.UUID+" has no spare memory left for what fails", "have the board replaced")
		case g.RemapPending:
			r.add("memory", Partly, "GPU "+g.Device.UUID+" has memory rows to be replaced at its next reset", "drain the box and reset the GPU (nvidia-smi --gpu-reset)")
		}
		if !g.ECCEvents {
			r.add("events", Partly, "GPU "+g.Device.UUID+" does not tell of memory errors as they come; its counters are compared", "")
		}
	}
}

// counters are the metrics that need GPM.
var counters = [...]profile.Metric{
	profile.SMActive, profile.SMOccupancy, profile.TensorActive, profile.DRAMActive,
	profile.FP64Active, profile.FP32Active, profile.FP16Active,
}

// judgeMetrics adds a check for each reason why metrics are missing on some GPU, with the metrics
// and the remedy.
func (r *Report) judgeMetrics(root fs.FS) {
	missing := [profile.OutOfRange + 2][]string{}
	for m := range profile.NumMetrics {
		for i := range r.GPUs {
			if why := r.GPUs[i].Why[m]; why != profile.Known && int(why) < len(missing) {
				missing[why] = append(missing[why], m.String())
				break
			}
		}
	}
	adminOnly, told := profilingForAdmins(root)
	for why, names := range missing {
		if len(names) == 0 || why == int(profile.Known) {
			continue
		}
		reason := profile.Reason(why)
		r.add("metrics", Partly, reason.String()+": "+strings.Join(names, ", "), fixFor(reason, adminOnly, told))
	}
	if len(r.Checks) > 0 && r.Checks[len(r.Checks)-1].Name != "metrics" {
		r.add("metrics", Good, "all", "")
	}
	for _, m := range counters {
		if adminOnly && told && len(r.GPUs) > 0 && r.GPUs[0].Why[m] != profile.Known {
			r.add("profiling", Partly, "the driver keeps profiling counters for administrators (RmProfilingAdminOnly is on)", profilingFix)
			return
		}
	}
}

const profilingFix = "run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0"

// fixFor returns the remedy for metrics missing for a reason; "" where there is none.
func fixFor(why profile.Reason, adminOnly, told bool) string {
	switch why {
	case profile.NoPermission:
		if adminOnly || !told {
			return "likely the driver's restriction of profiling to administrators: " + profilingFix
		}
		return "run as root"
	case profile.NoSymbol:
		return "update the driver: this version's library does not offer it"
	case profile.Unsupported:
		return "these GPUs do not tell it (SM, tensor and DRAM activity need Hopper or later; a fan, a board with one)"
	case profile.UnderMIG:
		return "while the GPU is divided by MIG, look at its instances"
	case profile.Lost:
		return "see dmesg for the GPU's Xid; reset it or reboot"
	case profile.NotAsked:
		return "PCIe throughput of older GPUs holds the driver up for 20 ms a figure: ask for it with --slow"
	case profile.Timeout:
		return "see dmesg: the driver hangs on this GPU"
	default:
		return ""
	}
}
