//go:build linux && cgo

package nvml

import (
	"capcli/profile"
	"capcli/profile/nvml/driver"
)

// peakPCIe returns what the GPU and the slot it is in carry at most in one direction, MiB/s; 0 where it is
// not known. The link is slower while the GPU is idle, so its state of the moment does not count.
func (l *library) peakPCIe(h driver.Device) float64 {
	generation, r1 := h.Number(driver.SymLinkGeneration)
	width, r2 := h.Number(driver.SymLinkWidth)
	if r1 != driver.Success || r2 != driver.Success {
		return 0
	}
	return profile.PCIeMiBPerS(int(generation), int(width))
}

// peakNVLink returns what the links that are up now carry at most in one direction, MiB/s: their number
// times the speed that they have in common, or that of their version. It is 0 where none is up or it is
// not known.
func (l *library) peakNVLink(h driver.Device) float64 {
	if !l.lib.Has(driver.SymLinkState) {
		return 0
	}
	up, first := 0, -1
	for link := range driver.MaxLinks {
		state, ret := h.NumberOf(driver.SymLinkState, uint32(link)) //nolint:gosec // under MaxLinks
		if c := code(ret); c.isGPULost() || c.isDriverGone() || c == notSupported && link == 0 {
			return 0
		}
		if ret == driver.Success && state == driver.FeatureEnabled {
			if up++; first < 0 {
				first = link
			}
		}
	}
	if up == 0 {
		return 0
	}
	var common [1]driver.FieldValue
	common[0].FieldID = driver.FieldLinkSpeed
	if h.GetFieldValues(common[:]) == driver.Success && common[0].Return == driver.Success {
		if v := number(&common[0]); v > 0 && v < 1<<20 {
			return nvlinkMiBPerS(up, v)
		}
	}
	version, ret := h.NumberOf(driver.SymLinkVersion, uint32(first)) //nolint:gosec // under MaxLinks
	if ret != driver.Success || int(version) >= len(nvlinkMBPerS) {
		return 0
	}
	return nvlinkMiBPerS(up, nvlinkMBPerS[version])
}
