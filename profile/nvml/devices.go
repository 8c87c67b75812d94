//go:build linux && cgo && nvml

package nvml

import (
	"fmt"

	driver "github.com/NVIDIA/go-nvml/pkg/nvml"

	"capcli/profile"
)

// found is a GPU as the driver lists it.
type found struct {
	handle driver.Device
	device profile.Device
	code   code // why it cannot be used, with a device of which only Index is sure

	total     float64 // bytes of memory; 0 where it cannot be told
	folded    bool    // the used memory of GetMemoryInfo_v2 holds the reserved
	gpmWhy    profile.Reason
	eccEvents bool // it tells of memory errors by event
	repair    repair
}

// find lists the GPUs with their static facts.
func (l *library) find() ([]found, code) {
	n, ret := l.lib.DeviceGetCount()
	if ret != driver.SUCCESS {
		return nil, code(ret)
	}
	list := make([]found, 0, n)
	for i := range n {
		f := found{device: profile.Device{Index: i, Driver: l.version, GI: -1, CI: -1}}
		if f.handle, ret = l.lib.DeviceGetHandleByIndex(i); ret == driver.SUCCESS {
			f.device.UUID, ret = f.handle.GetUUID()
		}
		if f.code = code(ret); f.code.isDriverGone() {
			return nil, f.code
		}
		if f.code == success {
			l.describe(f.handle, &f.device)
			f.gpmWhy = l.gpmSupport(f.handle)
			f.total, f.folded = l.memoryForm(f.handle)
			f.repair = l.repairOf(f.handle)
		}
		list = append(list, f)
	}
	return list, success
}

// describe fills in what a GPU is; what cannot be told stays blank.
func (l *library) describe(h driver.Device, d *profile.Device) {
	if l.has[symName] {
		if name, ret := h.GetName(); ret == driver.SUCCESS {
			d.Model = name
		}
	}
	if l.has[symPci] {
		if pci, ret := h.GetPciInfo(); ret == driver.SUCCESS {
			d.Bus = busOf(pci)
		}
	}
	if l.has[symMaxClock] {
		if mhz, ret := h.GetMaxClockInfo(driver.CLOCK_SM); ret == driver.SUCCESS && mhz < 20_000 {
			d.MaxSMClockMHz = float64(mhz)
		}
		if l.has[symBusWidth] {
			mhz, r1 := h.GetMaxClockInfo(driver.CLOCK_MEM)
			bits, r2 := h.GetMemoryBusWidth()
			if r1 == driver.SUCCESS && r2 == driver.SUCCESS && mhz < 40_000 && bits < 1<<16 {
				d.PeakMemBytesPerS = peakMemory(float64(mhz), float64(bits))
			}
		}
	}
	if l.has[symCores] && l.has[symCapability] {
		cores, r1 := h.GetNumGpuCores()
		major, minor, r2 := h.GetCudaComputeCapability()
		if r1 == driver.SUCCESS && r2 == driver.SUCCESS {
			d.SMs = multiprocessors(cores, major, minor)
		}
	}
}

// repairOf asks how the GPU's memory stands; a divided GPU does not tell.
func (l *library) repairOf(h driver.Device) repair {
	if !l.has[symRemapped] {
		return repair{}
	}
	corrected, not, pending, failed, ret := h.GetRemappedRows()
	if ret != driver.SUCCESS {
		return repair{}
	}
	return repair{corrected + not, pending, failed}
}

// peakMemory is the bandwidth of device memory in bytes a second: two transfers
// a clock over the whole bus, as CUDA's deviceQuery reckons. 2619 MHz over 5120
// bits is the 3.35 TB/s of an H100's data sheet.
func peakMemory(mhz, bits float64) float64 { return mhz * 1e6 * bits * 2 / 8 }

// multiprocessors is how many SMs hold the cores: 64 a piece in compute
// capability 6.0, 7.x and 8.0, else 128 (CUDA C programming guide, appendix on
// compute capabilities). 0 where the two do not fit.
func multiprocessors(cores, major, minor int) int {
	each := 128
	if major == 7 || minor == 0 && (major == 6 || major == 8) {
		each = 64
	}
	if cores <= 0 || cores > 1<<20 || cores%each != 0 {
		return 0
	}
	return cores / each
}

func busOf(pci driver.PciInfo) string {
	id := pci.BusId[:]
	if id[0] == 0 {
		id = pci.BusIdLegacy[:]
	}
	text := make([]byte, 0, len(id))
	for _, c := range id {
		if c == 0 {
			break
		}
		text = append(text, byte(c))
	}
	if len(text) == 0 && (pci.Bus != 0 || pci.Device != 0 || pci.Domain != 0) {
		return fmt.Sprintf("%08X:%02X:%02X.0", pci.Domain, pci.Bus, pci.Device)
	}
	return string(text)
}
