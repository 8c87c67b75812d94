package nvml

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
)

// trouble is the error where the GPUs cannot be sampled, with its remedy.
type trouble struct {
	What string // what was attempted and what was found
	Fix  string // what to do
}

func (t *trouble) Error() string { return t.What + ": " + t.Fix }

// Hint returns what to do.
func (t *trouble) Hint() string { return t.Fix }

const otherSources = "or read another source: --source smi (nvidia-smi) or --source dcgm (a dcgm-exporter)"

// moduleVersion returns the version of the NVIDIA kernel module; "" where none is loaded.
func moduleVersion(root fs.FS) string {
	found := versionForm.FindStringSubmatch(firstLines(root, "proc/driver/nvidia/version"))
	if found == nil {
		return ""
	}
	return found[1]
}

// The first line is "NVRM version: NVIDIA UNIX … Kernel Module  550.54.15  date".
var versionForm = regexp.MustCompile(`Kernel Module(?: for \S+)?\s+(\d+\.\d+(?:\.\d+)*)`)

func firstLines(root fs.FS, name string) string {
	f, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, smallFile))
	if err != nil {
		return ""
	}
	return string(text)
}

// diagnose returns the trouble that return code c of setting up the library means on this box.
// library is the name of its file; "" is the usual one.
func diagnose(c code, root fs.FS, library string) *trouble {
	library = cmp.Or(library, "libnvidia-ml.so.1")
	module := moduleVersion(root)
	switch c {
	case libraryNotFound:
		if module == "" {
			return &trouble{"open " + library + ": not found, and no NVIDIA driver is loaded", "install the driver, or run on a box with a GPU; --source fake shows a made-up one"}
		}
		return &trouble{
			"open " + library + ": not found, though driver " + module + " is loaded",
			"in a container, start it with --gpus all (or NVIDIA_VISIBLE_DEVICES=all and NVIDIA_DRIVER_CAPABILITIES=utility); on the host, install the driver's libraries (libnvidia-compute, nvidia-utils), or name the file with --where; " + otherSources,
		}
	case mismatch:
		found := ""
		if module != "" {
			found = ", whose kernel module is " + module
		}
		return &trouble{"set up " + library + ": its version is not that of the loaded driver" + found, "the driver was updated: reboot, or unload and load the nvidia kernel modules"}
	case notLoaded:
		return &trouble{"set up " + library + ": the driver is not loaded", "run modprobe nvidia, and see dmesg for why it fails (Secure Boot, nouveau, a GPU that the driver does not support)"}
	case noPermission:
		return &trouble{"set up " + library + ": no permission", "this user may not open /dev/nvidiactl: see its owner and mode, and the device rules of the container's cgroup"}
	case functionMissing:
		return &trouble{"set up " + library + ": it lacks what every version has", "it is not NVIDIA's library, or is older than 2012: name the right file with --where; " + otherSources}
	case gpuLost:
		return &trouble{"set up " + library + ": a GPU fell off the bus", "see dmesg for its Xid; reset it (nvidia-smi --gpu-reset) or reboot"}
	default:
		return &trouble{"set up " + library + ": " + c.String(), "see dmesg for lines with NVRM; " + otherSources}
	}
}

// profilingForAdmins reports whether the kernel module reserves profiling counters for
// administrators (its parameter RmProfilingAdminOnly). known is false where it does not list the
// parameter.
func profilingForAdmins(root fs.FS) (only, known bool) {
	for line := range strings.Lines(firstLines(root, "proc/driver/nvidia/params")) {
		if v, ok := strings.CutPrefix(line, "RmProfilingAdminOnly:"); ok {
			return strings.TrimSpace(v) != "0", true
		}
	}
	return false, false
}

// noGPUs returns the trouble where the driver works but no GPU can be sampled. listed is the
// length of its list of GPUs, first the code of the first one.
func noGPUs(listed int, first code) *trouble {
	if listed == 0 {
		return &trouble{"list GPUs: the driver shows none", "in a container, see NVIDIA_VISIBLE_DEVICES; on the host, lspci | grep -i nvidia and dmesg"}
	}
	fix := "see dmesg for Xid or NVRM lines"
	if first == noPermission {
		fix = "this user may not open /dev/nvidia0 and its like: see their owner and mode, and the device rules of the container's cgroup"
	}
	return &trouble{fmt.Sprintf("list GPUs: none of %d can be used: %s", listed, first), fix}
}
