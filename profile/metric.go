package profile

import "math"

// Metric is a quantity measured on a GPU: its index in Metrics.
type Metric uint8

// The metrics, in the order of the columns on disk. New ones go to the end.
const (
	UtilGPU Metric = iota
	UtilMem
	SMActive
	SMOccupancy
	TensorActive
	DRAMActive
	FP64Active
	FP32Active
	FP16Active
	MemUsed
	MemReserved
	MemTotal
	Power
	PowerLimit
	Energy
	Temp
	MemTemp
	ClockSM
	ClockMem
	PState
	Throttle
	Fan
	PCIeTx
	PCIeRx
	NVLinkTx
	NVLinkRx
	ECCCorrected
	ECCUncorrected
	UtilEnc
	UtilDec
	ThrottlePower
	ThrottleThermal
	PCIeReplays
	NVLinkErrors
	RowsRemapped
	RowsPending
	NumMetrics // number of metrics
)

// Describe says what a metric is and how it is stored.
type Describe struct {
	Name string // column and JSON key, with the unit at its end
	Unit string
	// Step is the resolution at which the metric is stored, in Unit: 1, or 1/8, which single
	// precision holds exactly and sums without error. It is finer than the sensor's resolution.
	Step float64
	// Counter says that the value only grows, except after a reset of the GPU or its driver.
	Counter bool
	Doc     string
}

// Metrics describes each metric. The names are those of glossary terms with
// the unit; the sources are NVML's (nvml.h) and its GPM metrics (Hopper and later).
var Metrics = [NumMetrics]Describe{
	UtilGPU:        {"util_gpu_pct", "%", 1, false, "share of the sample period in which at least one kernel ran; not how full the GPU was"},
	UtilMem:        {"util_mem_pct", "%", 1, false, "share of the sample period in which device memory was read or written; not bandwidth"},
	SMActive:       {"sm_active_pct", "%", 0.125, false, "share of cycles in which an SM had at least one warp, mean over SMs (GPM)"},
	SMOccupancy:    {"sm_occupancy_pct", "%", 0.125, false, "warps resident over the most that fit, mean over SMs (GPM)"},
	TensorActive:   {"tensor_active_pct", "%", 0.125, false, "share of cycles in which a tensor pipe was active (GPM)"},
	DRAMActive:     {"dram_active_pct", "%", 0.125, false, "memory bandwidth used over the peak (GPM)"},
	FP64Active:     {"fp64_active_pct", "%", 0.125, false, "share of cycles in which the FP64 pipe was active (GPM)"},
	FP32Active:     {"fp32_active_pct", "%", 0.125, false, "share of cycles in which the FP32 pipe was active (GPM)"},
	FP16Active:     {"fp16_active_pct", "%", 0.125, false, "share of cycles in which the FP16 pipe was active (GPM)"},
	MemUsed:        {"mem_used_bytes", "bytes", 1, false, "device memory allocated, without what the driver reserves"},
	MemReserved:    {"mem_reserved_bytes", "bytes", 1, false, "device memory that the driver and firmware hold"},
	MemTotal:       {"mem_total_bytes", "bytes", 1, false, "device memory there is"},
	Power:          {"power_w", "W", 0.125, false, "power drawn by the GPU, as the board reports it: mean of the last second on most models"},
	PowerLimit:     {"power_limit_w", "W", 1, false, "power limit enforced"},
	Energy:         {"energy_j", "J", 1, true, "energy since the driver was loaded"},
	Temp:           {"temp_c", "°C", 1, false, "temperature of the GPU"},
	MemTemp:        {"temp_mem_c", "°C", 1, false, "temperature of device memory"},
	ClockSM:        {"clock_sm_mhz", "MHz", 1, false, "clock of the SMs"},
	ClockMem:       {"clock_mem_mhz", "MHz", 1, false, "clock of device memory"},
	PState:         {"pstate", "", 1, false, "performance state: 0 is the fastest"},
	Throttle:       {"throttle_reasons", "bits", 1, false, "why clocks are held back: NVML's bits of clocks event reasons"},
	Fan:            {"fan_pct", "%", 1, false, "fan speed over its maximum; boards without a fan have none"},
	PCIeTx:         {"pcie_tx_mib_s", "MiB/s", 1, false, "sent over PCIe"},
	PCIeRx:         {"pcie_rx_mib_s", "MiB/s", 1, false, "received over PCIe"},
	NVLinkTx:       {"nvlink_tx_mib_s", "MiB/s", 1, false, "sent over all NVLinks"},
	NVLinkRx:       {"nvlink_rx_mib_s", "MiB/s", 1, false, "received over all NVLinks"},
	ECCCorrected:   {"ecc_corrected", "errors", 1, true, "memory errors corrected since the driver was loaded"},
	ECCUncorrected: {"ecc_uncorrected", "errors", 1, true, "memory errors not corrected since the driver was loaded"},
	UtilEnc:        {"util_enc_pct", "%", 1, false, "share of the sample period in which the video encoder was busy"},
	UtilDec:        {"util_dec_pct", "%", 1, false, "share of the sample period in which the video decoder was busy"},

	ThrottlePower:   {"throttle_power_ms", "ms", 1, true, "time in which the power limit held the clocks back, since the driver was loaded"},
	ThrottleThermal: {"throttle_thermal_ms", "ms", 1, true, "time in which heat held the clocks back, since the driver was loaded"},
	PCIeReplays:     {"pcie_replays", "packets", 1, true, "packets sent again over PCIe because they arrived damaged"},
	NVLinkErrors:    {"nvlink_errors", "errors", 1, true, "errors, replays and recoveries of all NVLinks"},
	RowsRemapped:    {"rows_remapped", "rows", 1, true, "rows of device memory replaced by spare ones for good"},
	RowsPending:     {"rows_remap_pending", "", 1, false, "1 where a row waits for a reset of the GPU to be replaced, else 0"},
}

// String returns the metric's name.
func (m Metric) String() string {
	if m >= NumMetrics {
		return "unknown"
	}
	return Metrics[m].Name
}

// Round returns v rounded to the resolution at which the metric is stored.
func (m Metric) Round(v float64) float64 { return Metrics[m].round(v) }

func (d *Describe) round(v float64) float64 {
	step := d.Step
	if step >= 1 {
		return math.Round(v/step) * step
	}
	parts := math.Round(1 / step) // dividing by a whole number gives the decimal nearest
	return math.Round(v*parts) / parts
}

// settle returns v as it is stored, and Known; 0 and OutOfRange where v is not a finite number at
// all, or under 0: no metric can be negative.
func (d *Describe) settle(v float64) (float64, Reason) {
	if !(v >= 0) || math.IsInf(v, 0) {
		return 0, OutOfRange
	}
	return d.round(v), Known
}
