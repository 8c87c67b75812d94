//go:build linux && cgo

package nvml

import (
	"fmt"

	"capcli/profile"
	"capcli/profile/nvml/driver"
)

// found is a GPU as the driver lists it.
type found struct {
	handle driver.Device
	device profile.Device
	code   code // why the GPU cannot be used; then only device.Index is reliable

	total     float64 // bytes of device memory; 0 where unknown
	folded    bool    // used memory of GetMemoryInfo2 includes the reserved memory
	gpmWhy    profile.Reason
	eccEvents bool // the GPU reports memory errors by event
	repair    repair
}

// find returns the GPUs in the list of the driver with their static facts. It fails where the
// driver is gone.
func (l *library) find() ([]found, code) {
	n, ret := l.lib.DeviceGetCount()
	if ret != driver.Success {
		return nil, code(ret)
	}
	list := make([]found, 0, n)
	for i := range n {
		f := found{device: profile.Device{Index: i, Driver: l.version, GI: -1, CI: -1}}
		if f.handle, ret = l.lib.DeviceGetHandleByIndex(i); ret == driver.Success {
			f.device.UUID, ret = f.handle.Text(driver.SymUUID)
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

// describe sets the model, address, clocks, bandwidth and SMs of d. A fact that cannot be read
// stays zero.
func (l *library) describe(h driver.Device, d *profile.Device) {
	if name, ret := h.Text(driver.SymName); ret == driver.Success {
		d.Model = name
	}
	if pci, ret := h.GetPCIInfo(); ret == driver.Success {
		d.Bus = busOf(pci)
	}
	if mhz, ret := h.NumberOf(driver.SymMaxClock, driver.ClockSM); ret == driver.Success && mhz < 20_000 {
		d.MaxSMClockMHz = float64(mhz)
	}
	mhz, r1 := h.NumberOf(driver.SymMaxClock, driver.ClockMem)
	bits, r2 := h.Number(driver.SymBusWidth)
	if r1 == driver.Success && r2 == driver.Success && mhz < 40_000 && bits < 1<<16 {
		d.PeakMemBytesPerS = peakMemory(float64(mhz), float64(bits))
	}
	cores, r1 := h.Number(driver.SymCores)
	major, minor, r2 := h.Pair(driver.SymCapability)
	if r1 == driver.Success && r2 == driver.Success {
		d.SMs = multiprocessors(int(cores), int(major), int(minor))
	}
	d.PeakPCIeMiBPerS, d.PeakNVLinkMiBPerS = l.peakPCIe(h), l.peakNVLink(h)
}

// repairOf returns the state of the row remapping of the GPU; zero where the driver does not
// report it, as for a GPU divided by MIG.
func (l *library) repairOf(h driver.Device) repair {
	corrected, not, pending, failed, ret := h.GetRemappedRows()
	if ret != driver.Success {
		return repair{}
	}
	return repair{corrected + not, pending, failed}
}

// peakMemory returns the bandwidth of device memory in bytes per second: two transfers per clock
// over the whole bus, as in CUDA's deviceQuery. 2619 MHz and 5120 bits give the 3.35 TB/s in the
// data sheet of an H100.
func peakMemory(mhz, bits float64) float64 { return mhz * 1e6 * bits * 2 / 8 }

// multiprocessors returns the number of SMs of a GPU with so many cores: an SM has 64 cores in
// compute capability 6.0, 7.x and 8.0, else 128 (CUDA C programming guide, appendix on compute
// capabilities). It returns 0 where the cores are not a multiple of that.
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

func busOf(pci driver.PCIInfo) string {
	id := pci.BusID[:]
	if id[0] == 0 {
		id = pci.BusIDLegacy[:]
	}
	text := make([]byte, 0, len(id))
	for _, c := range id {
		if c == 0 {
			break
		}
		text = append(text, c)
	}
	if len(text) == 0 && (pci.Bus != 0 || pci.Device != 0 || pci.Domain != 0) {
		return fmt.Sprintf("%08X:%02X:%02X.0", pci.Domain, pci.Bus, pci.Device)
	}
	return string(text)
}
