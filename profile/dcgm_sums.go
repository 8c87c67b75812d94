package profile

// dcgmPart says of which metric a field of DCGM is a part. Fields of one part tell the same under two
// names.
type dcgmPart struct {
	metric Metric
	scale  float64 // our value = sum of theirs x scale
	part   int
}

// dcgmParts are the metrics that are sums of fields. The times are in nanoseconds: older notes on
// DCGM's fields say microseconds, which was corrected (NVIDIA/dcgm-exporter#589).
var dcgmParts = map[string]dcgmPart{
	"DCGM_FI_DEV_POWER_VIOLATION":                     {ThrottlePower, 1e-6, 0},
	"DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS": {ThrottlePower, 1e-6, 0},

	"DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN_NS": {ThrottlePower, 1e-6, 1},
	"DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN_NS":       {ThrottleThermal, 1e-6, 2},
	"DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS":       {ThrottleThermal, 1e-6, 3},
	"DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL":              {NVLinkErrors, 1, 4},
	"DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL":              {NVLinkErrors, 1, 5},
	"DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL":                {NVLinkErrors, 1, 6},
	"DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL":              {NVLinkErrors, 1, 7},
	"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS":                    {RowsRemapped, 1, 8},
	"DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS":                      {RowsRemapped, 1, 9},
}

const numDCGMParts = 10

// dcgmSums are the parts of a device in one scrape.
type dcgmSums struct {
	values [numDCGMParts]float64
	known  [numDCGMParts]bool
}

// take takes a field that is a part; it returns false for any other. A page has a field of a GPU that
// several pods share once for each.
func (s *dcgmSums) take(name string, v float64, ok bool) bool {
	p, is := dcgmParts[name]
	if is && ok {
		s.values[p.part], s.known[p.part] = v*p.scale, true
	}
	return is
}

// dcgmPartMetric is the metric of each part.
var dcgmPartMetric = func() (m [numDCGMParts]Metric) {
	for _, p := range dcgmParts {
		m[p.part] = p.metric
	}
	return m
}()

// settle sets the metrics of which a part is known to the sum of their parts.
func (s *dcgmSums) settle(to *Sample) {
	var sums [NumMetrics]float64
	for part, m := range dcgmPartMetric {
		if s.known[part] {
			sums[m] += s.values[part]
			to.Set(m, sums[m])
		}
	}
}
