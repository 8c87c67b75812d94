package profile_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"capcli/profile"
)

// Times under caps, errors of links and replaced rows are sums of DCGM's fields; a page that shows a GPU
// once for each of its pods counts each field once.
func TestDCGMSums(t *testing.T) {
	page := `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a"} 5
DCGM_FI_DEV_POWER_VIOLATION{gpu="0",UUID="GPU-a",pod="x"} 2500000000
DCGM_FI_DEV_POWER_VIOLATION{gpu="0",UUID="GPU-a",pod="y"} 2500000000
DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN_NS{gpu="0",UUID="GPU-a"} 500000000
DCGM_FI_DEV_THERMAL_VIOLATION{gpu="0",UUID="GPU-a"} 7000000
DCGM_FI_DEV_PCIE_REPLAY_COUNTER{gpu="0",UUID="GPU-a"} 12
DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS{gpu="0",UUID="GPU-a"} 1
DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS{gpu="0",UUID="GPU-a"} 3
DCGM_FI_DEV_ROW_REMAP_PENDING{gpu="0",UUID="GPU-a"} 1
DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL{gpu="0",UUID="GPU-a"} 1
DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL{gpu="0",UUID="GPU-a"} 4
DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL{gpu="0",UUID="GPU-a"} 9223372036854775794
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-b"} 5
DCGM_FI_DEV_THERMAL_VIOLATION{gpu="1",UUID="GPU-b"} 7000000
DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN_NS{gpu="1",UUID="GPU-b"} 20000000
DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS{gpu="1",UUID="GPU-b"} 1000000
`
	s := open(t, "dcgm", profile.SourceOptions{Where: "metrics", Fetch: fetchTexts(page)})
	for range 2 {
		tick := read(t, s)
		checkSample(
			t, &tick.Samples[0], want{profile.ThrottlePower, 3000, profile.Known}, want{profile.ThrottleThermal, 7, profile.Known},
			want{profile.PCIeReplays, 12, profile.Known}, want{profile.RowsRemapped, 4, profile.Known}, want{profile.RowsPending, 1, profile.Known},
			want{profile.NVLinkErrors, 5, profile.Known},
		)
		checkSample(
			t, &tick.Samples[1], want{profile.ThrottleThermal, 21, profile.Known}, want{profile.ThrottlePower, 0, profile.Unsupported},
			want{profile.NVLinkErrors, 0, profile.Unsupported}, want{profile.RowsRemapped, 0, profile.Unsupported},
		)
	}
}

// A new nvidia-smi tells the times under caps, in microseconds, and the link.
func TestSMISums(t *testing.T) {
	const told = `index, uuid, name, utilization.gpu [%], pcie.link.gen.max, pcie.link.width.max, clocks_event_reasons_counters.sw_power_cap [us], clocks_event_reasons_counters.hw_power_brake_slowdown [us], clocks_event_reasons_counters.sw_thermal_slowdown [us], clocks_event_reasons_counters.hw_thermal_slowdown [us], remapped_rows.correctable, remapped_rows.uncorrectable, remapped_rows.pending
0, GPU-a, NVIDIA L4, 34, 4, 16, 2500000, 500000, [N/A], 1000, 2, 1, No
1, GPU-b, NVIDIA L4, 34, [N/A], 16, [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], Yes
`
	fetch := func(_ context.Context, what string) (io.ReadCloser, error) {
		if !strings.Contains(what, "clocks_event_reasons_counters") {
			return nil, errors.New("it was to be asked for all that it knows")
		}
		return io.NopCloser(strings.NewReader(told)), nil
	}
	tick := read(t, open(t, "smi", profile.SourceOptions{Fetch: fetch, Every: time.Second}))
	checkSample(
		t, &tick.Samples[0], want{profile.ThrottlePower, 3000, profile.Known}, want{profile.ThrottleThermal, 1, profile.Known},
		want{profile.RowsRemapped, 3, profile.Known}, want{profile.RowsPending, 0, profile.Known},
	)
	checkSample(
		t, &tick.Samples[1], want{profile.ThrottlePower, 0, profile.Unsupported}, want{profile.RowsRemapped, 0, profile.Unsupported},
		want{profile.RowsPending, 1, profile.Known},
	)
	if a, b := tick.Samples[0].Device.PeakPCIeMiBPerS, tick.Samples[1].Device.PeakPCIeMiBPerS; a != 30048 || b != 0 {
		t.Errorf("PCIe carries %v and %v MiB/s", a, b)
	}
}
