package profile

import "capcli/profile/rhythm"

// UseField is a field of Use as files keep it: its name there, and a function that finds it. Just one
// of the functions is set.
type UseField struct {
	Name, Doc string

	Micros func(*Use) *int64        // a time or a count
	Flag   func(*Use) *bool         // yes or no
	Most   func(*Use) *float64      // the highest value
	Sum    func(*Use) *Sum          // a sum in 128 bits
	Mean   func(*Use) *Average      // a mean over time
	Values func(*Use) *Distribution // a histogram over time
	// Counts returns numbers by index, most of them 0. It may return none where all are 0, unless grow is set.
	Counts func(u *Use, grow bool) []int64
	Steps  func(*Use) *[]rhythm.Bin // lengths of steps
}

// UseFields are all fields of Use but Parts, which is that of a whole GPU until Uses are weighed. What a Use is cannot be told of a file that lacks one, so whoever
// adds a field to Use adds it here.
var UseFields = []UseField{
	{Name: "watched_us", Doc: "time in which samples were there", Micros: func(u *Use) *int64 { return &u.Watched }},
	{Name: "seen_us", Doc: "time in which samples were there, as GPU-time", Micros: func(u *Use) *int64 { return &u.Seen }},
	{Name: "held_us", Doc: "of it with a process", Micros: func(u *Use) *int64 { return &u.Held }},
	{Name: "idle_us", Doc: "held and not active", Micros: func(u *Use) *int64 { return &u.Idle }},
	{Name: "shared_us", Doc: "held by more than one", Micros: func(u *Use) *int64 { return &u.Shared }},
	{Name: "starved_us", Doc: "of the idle time, in pauses between bursts of work that are over", Micros: func(u *Use) *int64 { return &u.Starved }},
	{Name: "starved_pauses", Doc: "number of those pauses", Micros: func(u *Use) *int64 { return &u.Pauses }},
	{Name: "longest_idle_us", Doc: "longest pause while held that is over", Micros: func(u *Use) *int64 { return &u.Longest }},
	{Name: "held_back_by_heat_us", Doc: "time in which heat held clocks back", Micros: func(u *Use) *int64 { return &u.Hot }},
	{Name: "held_back_by_power_us", Doc: "time in which the power limit held clocks back", Micros: func(u *Use) *int64 { return &u.Capped }},
	{Name: "energy_eighths_uj", Doc: "energy, in eighths of a microjoule", Sum: func(u *Use) *Sum { return &u.Energy }},
	{Name: "energy_from_power", Doc: "1 where some energy was summed from power, for want of a counter", Flag: func(u *Use) *bool { return &u.ByPower }},
	{Name: "mem_used_bytes_max", Doc: "the most device memory in use", Most: func(u *Use) *float64 { return &u.MemoryBytes }},
	{Name: "mem_total_bytes", Doc: "device memory there is", Most: func(u *Use) *float64 { return &u.MemoryTotal }},

	{Name: "util_gpu_pct", Doc: "share of time in which a kernel ran", Values: func(u *Use) *Distribution { return &u.Util }},
	{Name: "sm_active_pct", Doc: "share of active SMs", Values: func(u *Use) *Distribution { return &u.SM }},
	{Name: "tensor_active_pct", Doc: "share of cycles with an active tensor pipe", Values: func(u *Use) *Distribution { return &u.Tensor }},
	{Name: "dram_active_pct", Doc: "memory bandwidth used over the peak", Values: func(u *Use) *Distribution { return &u.DRAM }},
	{Name: "mem_used_pct", Doc: "device memory in use over what there is", Values: func(u *Use) *Distribution { return &u.Memory }},
	{Name: "power_w", Doc: "power drawn", Values: func(u *Use) *Distribution { return &u.Watts }},
	{Name: "sm_occupancy_pct", Doc: "warps resident over the most that fit", Mean: func(u *Use) *Average { return &u.Occupancy }},
	{Name: "fp64_active_pct", Doc: "share of cycles with an active FP64 pipe", Mean: func(u *Use) *Average { return &u.FP64 }},
	{Name: "fp32_active_pct", Doc: "share of cycles with an active FP32 pipe", Mean: func(u *Use) *Average { return &u.FP32 }},
	{Name: "link_mib_s", Doc: "NVLink and PCIe, both ways", Mean: func(u *Use) *Average { return &u.Link }},

	{Name: "clock_sm_mhz", Doc: "clock of the SMs", Mean: func(u *Use) *Average { return &u.Clock }},

	{Name: "wait_minutes", Doc: "whole minutes of which waits inside of kernels are known", Micros: func(u *Use) *int64 { return &u.Waits.Minutes }},
	{Name: "wait_sum", Doc: "sum over them of the time in which a kernel ran less the share of active SMs, in hundredths of a percent", Micros: func(u *Use) *int64 { return &u.Waits.Sum }},
	{Name: "wait_squares", Doc: "sum of its squares", Micros: func(u *Use) *int64 { return &u.Waits.Squares }},
	{Name: "step_windows", Doc: "windows of some minutes that may show the length of a step", Micros: func(u *Use) *int64 { return &u.Steps.Judged }},
	{Name: "steps", Doc: "lengths of steps that they show: bin:windows:sure ones:sum of microseconds, apart by blanks; bins are 2% wide, from 10 ms on", Steps: func(u *Use) *[]rhythm.Bin { return &u.Steps.Bins }},
	{Name: "rhythm_bursts", Doc: "times from a burst to the next within minutes", Micros: func(u *Use) *int64 { return &u.Rhythm.Bursts }},
	{Name: "rhythm_ms", Doc: "sum of those times", Micros: func(u *Use) *int64 { return &u.Rhythm.Millis }},
	{Name: "rhythm_ms_squares", Doc: "sum of their squares", Micros: func(u *Use) *int64 { return &u.Rhythm.Squares }},
	{Name: "signs", Doc: "what each minute showed while held, by place in a table of signs: place:number", Counts: signs},
	{Name: "bursts", Doc: "bursts of work that are over, by length: number of the bin:bursts; bins are seconds to 20, then steps of 30%", Counts: func(u *Use, _ bool) []int64 { return u.Bursts[:] }},
	{Name: "head_us", Doc: "work or pause under way at the begin, which is not yet counted as a burst or pause", Micros: func(u *Use) *int64 { return &u.Edges.Head.Micros }},
	{Name: "head_active", Doc: "1 where it is work", Flag: func(u *Use) *bool { return &u.Edges.Head.Active }},
	{Name: "tail_us", Doc: "work or pause under way at the end, likewise", Micros: func(u *Use) *int64 { return &u.Edges.Tail.Micros }},
	{Name: "tail_active", Doc: "1 where it is work", Flag: func(u *Use) *bool { return &u.Edges.Tail.Active }},
	{Name: "tail_apart", Doc: "1 where work and pauses changed in between", Flag: func(u *Use) *bool { return &u.Edges.Turned }},
}

func signs(u *Use, grow bool) []int64 {
	if grow {
		return u.Signs.Make()
	}
	return u.Signs
}
