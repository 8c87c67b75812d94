//go:build linux && cgo

package nvml

import (
	"testing"

	"capcli/profile"
)

// The times under caps are sums of nanoseconds, the errors of links sums over their kinds; what rarely
// changes is asked each five seconds and stays in between.
func TestFakeThrottlesAndErrors(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.set("0.field74.0", 2_500_000_000, "0.field271.0", 500_000_000, "0.field269.0", 7_000_000, "0.field270.0", 1_000_000, "0.field75.0", 99_000_000,
			"0.field94.0", 12, "0.field142.0", 3, "0.field143.0", 1, "0.field144.0", 1,
			"0.field38.0", 1, "0.field45.0", 2, "0.field52.0", 4, "0.field59.0", 8, "0.field160.0", 16, "0.field208.0", 1000,
			// GPU 1 is older: no times of hardware, none of heat but the policy's, and getters for the rest.
			"1.field74.0", 40_000_000, "1.field75.0", 6_000_000, "1.replays", 5, "1.rows", 2, "1.pending", 0)
		s := f.open(profile.SourceOptions{}, nil)
		first := values{
			profile.ThrottlePower: 3000, profile.ThrottleThermal: 8, profile.PCIeReplays: 12, profile.RowsRemapped: 4, profile.RowsPending: 1, profile.NVLinkErrors: 31,
		}
		wantValues(t, sampleOf(t, see(t, s), gpu0), first)
		f.set("0.field74.0", 9_500_000_000, "0.field94.0", 13)
		wantValues(t, sampleOf(t, see(t, s), gpu0), first)
		s.stateAt -= stateEvery
		tick := see(t, s)
		wantValues(t, sampleOf(t, tick, gpu0), values{profile.ThrottlePower: 10_000, profile.PCIeReplays: 13, profile.NVLinkErrors: 31})
		wantValues(t, sampleOf(t, tick, gpu1), values{
			profile.ThrottlePower: 40, profile.ThrottleThermal: 6, profile.PCIeReplays: 5, profile.RowsRemapped: 3, profile.RowsPending: 0,
		})
		wantReasons(t, sampleOf(t, tick, gpu1), reasons{profile.NVLinkErrors: profile.Unsupported})
	})
}

// Blackwell counts errors by link, and has no totals.
func TestFakeErrorsOfSingleLinks(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.set("0.field208.0", 1, "0.field212.0", 2, "0.field215.0", 4, "0.field208.17", 8, "0.field215.17", 16, "0.field271.0", 5_000_000,
			"1.field208.3", "fail 999", "1.field215.3", 1, "1.field142.0", "max", "1.field143.0", 1)
		s := f.open(profile.SourceOptions{}, nil)
		see(t, s) // that there are no totals is found
		s.stateAt -= stateEvery
		tick := see(t, s)
		wantValues(t, sampleOf(t, tick, gpu0), values{profile.NVLinkErrors: 31, profile.ThrottlePower: 5})
		wantReasons(t, sampleOf(t, tick, gpu0), reasons{profile.ThrottleThermal: profile.Unsupported})
		wantReasons(t, sampleOf(t, tick, gpu1), reasons{profile.NVLinkErrors: profile.Failed})
		// A field that is nonsense gives way to the getter.
		wantValues(t, sampleOf(t, tick, gpu1), values{profile.RowsRemapped: 1})
	})
}

// Each function that is missing or fails leaves out its own figures, not the others.
func TestFakeLinksOfOldDrivers(t *testing.T) {
	withFake(t, "OLD", func(t *testing.T, f *fake) {
		f.set("0.replays", 7)
		s := sampleOf(t, see(t, f.open(profile.SourceOptions{}, nil)), gpu0)
		wantValues(t, s, values{profile.PCIeReplays: 7})
		wantReasons(t, s, reasons{
			profile.ThrottlePower: profile.NoSymbol, profile.ThrottleThermal: profile.NoSymbol, profile.NVLinkErrors: profile.NoSymbol,
			profile.RowsRemapped: profile.NoSymbol, profile.RowsPending: profile.NoSymbol,
		})
		if s.Device.PeakPCIeMiBPerS != 0 || s.Device.PeakNVLinkMiBPerS != 0 {
			t.Errorf("peaks %v and %v, which this library does not tell", s.Device.PeakPCIeMiBPerS, s.Device.PeakNVLinkMiBPerS)
		}
	})
}

func TestFakeLinksThatFail(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.set("fail nvmlDeviceGetPcieReplayCounter 0", 3, "fail nvmlDeviceGetRemappedRows 0", 4, "fail nvmlDeviceGetMaxPcieLinkWidth 0", 3,
			"0.links", 0, "fail nvmlDeviceGetFieldValues 1", 999, "1.replays", 3, "1.rows", 0, "1.linksup", 12, "1.linkversion", 4, "1.pciegen", 4, "1.pciewidth", 8)
		tick := see(t, f.open(profile.SourceOptions{}, nil))
		a, b := sampleOf(t, tick, gpu0), sampleOf(t, tick, gpu1)
		wantReasons(t, a, reasons{profile.PCIeReplays: profile.Unsupported, profile.RowsRemapped: profile.NoPermission, profile.RowsPending: profile.NoPermission})
		wantReasons(t, b, reasons{profile.ThrottlePower: profile.Failed, profile.NVLinkErrors: profile.Failed})
		wantValues(t, b, values{profile.PCIeReplays: 3, profile.RowsRemapped: 1, profile.RowsPending: 0})
		if d := a.Device; d.PeakPCIeMiBPerS != 0 || d.PeakNVLinkMiBPerS != 0 {
			t.Errorf("peaks of GPU 0: %v and %v", d.PeakPCIeMiBPerS, d.PeakNVLinkMiBPerS)
		}
		// Twelve links of NVLink 3 carry 300 GB/s, eight lanes of PCIe 4 15.75 GB/s.
		if d := b.Device; d.PeakPCIeMiBPerS != 15024 || d.PeakNVLinkMiBPerS != 286102 {
			t.Errorf("peaks of GPU 1: %v and %v", d.PeakPCIeMiBPerS, d.PeakNVLinkMiBPerS)
		}
	})
}

// The speed that the links have in common counts where it is told.
func TestFakeSpeedOfLinks(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.set("0.field90.0", 26562, "1.linksup", 0)
		tick := see(t, f.open(profile.SourceOptions{}, nil))
		if v := sampleOf(t, tick, gpu0).Device.PeakNVLinkMiBPerS; v != 455967 {
			t.Errorf("18 links of 26.562 GB/s carry %v MiB/s", v)
		}
		if v := sampleOf(t, tick, gpu1).Device.PeakNVLinkMiBPerS; v != 0 {
			t.Errorf("no link is up, and %v MiB/s", v)
		}
	})
}
