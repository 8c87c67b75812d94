package nvml

import "runtime"

// Usual returns the source that is taken where none is named. Where that is not nvml, lacks says in one line
// what it does not see and what to install.
func Usual() (name, lacks string) {
	if Built {
		return "nvml", ""
	}
	return "smi", "the source is smi (nvidia-smi): " + unseen + "; " + remedy()
}

// unseen is what a build without the calls of NVIDIA's library cannot see.
const unseen = "this build has no calls of NVIDIA's library, so it sees no SM, tensor and DRAM activity, no PCIe and NVLink rates, no energy and no Xids"

// remedy returns what to install where the calls are not built in.
func remedy() string {
	if runtime.GOOS != "linux" {
		return "to see them, run capcli on the GPU box, under Linux"
	}
	return "to see them, install capcli's package or archive for Linux, or a C compiler (gcc) and build it again"
}
