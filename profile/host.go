package profile

// HostMetric is a quantity of a whole box: its index in HostMetrics.
type HostMetric uint8

// The metrics of a box, in the order of the columns on disk. New ones go to the end.
const (
	NetTx HostMetric = iota
	NetRx
	NetErrors
	FabricTx
	FabricRx
	FabricErrors
	HostCPU
	HostIOWait
	DiskRead
	DiskWrite
	HostMemFree
	CPUPressure
	IOPressure
	MemPressure
	NetPeak
	FabricPeak
	NumHostMetrics // number of metrics of a box
)

// HostMetrics describes each metric of a box. Sources: /proc/stat, /proc/meminfo, /proc/diskstats and
// /proc/pressure (proc(5), Documentation/accounting/psi.rst), /sys/class/net and /sys/class/infiniband
// (Documentation/ABI/stable/sysfs-class-infiniband).
var HostMetrics = [NumHostMetrics]Describe{
	NetTx:        {"net_tx_mib_s", "MiB/s", 1, false, "sent over the network, without loopback and virtual interfaces"},
	NetRx:        {"net_rx_mib_s", "MiB/s", 1, false, "received over the network, without loopback and virtual interfaces"},
	NetErrors:    {"net_errors", "errors", 1, true, "packets that the network interfaces dropped or found faulty"},
	FabricTx:     {"fabric_tx_mib_s", "MiB/s", 1, false, "sent over InfiniBand and RoCE ports"},
	FabricRx:     {"fabric_rx_mib_s", "MiB/s", 1, false, "received over InfiniBand and RoCE ports"},
	FabricErrors: {"fabric_errors", "errors", 1, true, "errors of InfiniBand and RoCE links, and times that one went down"},
	HostCPU:      {"cpu_pct", "%", 0.125, false, "share of the time of all cores in which they worked"},
	HostIOWait:   {"io_wait_pct", "%", 0.125, false, "share of the time of all cores in which they were idle and a task waited for a disk"},
	DiskRead:     {"disk_read_mib_s", "MiB/s", 1, false, "read from disks"},
	DiskWrite:    {"disk_write_mib_s", "MiB/s", 1, false, "written to disks"},
	HostMemFree:  {"host_mem_available_bytes", "bytes", 1, false, "memory of the box that programs can still get"},
	CPUPressure:  {"cpu_pressure_pct", "%", 0.125, false, "share of time in which some task waited for a core"},
	IOPressure:   {"io_pressure_pct", "%", 0.125, false, "share of time in which some task waited for a disk"},
	MemPressure:  {"mem_pressure_pct", "%", 0.125, false, "share of time in which some task waited for memory"},
	NetPeak:      {"net_peak_mib_s", "MiB/s", 1, false, "what the network interfaces that are up carry at most in one direction"},
	FabricPeak:   {"fabric_peak_mib_s", "MiB/s", 1, false, "what the InfiniBand and RoCE ports that are active carry at most in one direction"},
}

// String returns the metric's name.
func (m HostMetric) String() string {
	if m >= NumHostMetrics {
		return "unknown"
	}
	return HostMetrics[m].Name
}

// HostSample is the metrics of a box at one tick. A value counts only where its reason is Known.
type HostSample struct {
	Values [NumHostMetrics]float64
	Why    [NumHostMetrics]Reason
}

// Set gives a metric a value, rounded to its resolution. What is not a finite number at all, or under
// 0, becomes OutOfRange.
func (s *HostSample) Set(m HostMetric, v float64) { s.Values[m], s.Why[m] = HostMetrics[m].settle(v) }

// Miss records why a metric has no value.
func (s *HostSample) Miss(m HostMetric, r Reason) { s.Values[m], s.Why[m] = 0, r }

// Clear forgets all values, for the reason r.
func (s *HostSample) Clear(r Reason) {
	for m := range s.Why {
		s.Values[m], s.Why[m] = 0, r
	}
}

// Get gives a metric's value; ok is false where there is none.
func (s *HostSample) Get(m HostMetric) (v float64, ok bool) { return s.Values[m], s.Why[m] == Known }

// GroupMetric is a quantity of the processes of one job on a box: its index in GroupMetrics.
type GroupMetric uint8

// The metrics of a job's processes, in the order of the columns on disk. New ones go to the end.
const (
	GroupCPU GroupMetric = iota
	GroupThrottled
	GroupIOWait
	GroupMemWait
	GroupRead
	GroupWrite
	GroupMemory
	GroupPageCache
	GroupRefaults
	NumGroupMetrics // number of metrics of a job's processes
)

// GroupMetrics describes each metric of a job's processes, which are those of its control group.
// Source: Documentation/admin-guide/cgroup-v2.rst.
var GroupMetrics = [NumGroupMetrics]Describe{
	GroupCPU:       {"cpu_pct", "%", 0.125, false, "time on cores, in percent of one core: 800 is eight cores at work"},
	GroupThrottled: {"cpu_throttled_pct", "%", 0.125, false, "share of the periods of its limit of CPU time in which the group had used it up and waited; 0 without a limit"},
	GroupIOWait:    {"io_pressure_pct", "%", 0.125, false, "share of time in which some task of the group waited for a disk"},
	GroupMemWait:   {"mem_pressure_pct", "%", 0.125, false, "share of time in which some task of the group waited for memory"},
	GroupRead:      {"disk_read_mib_s", "MiB/s", 1, false, "read from disks"},
	GroupWrite:     {"disk_write_mib_s", "MiB/s", 1, false, "written to disks"},
	GroupMemory:    {"mem_used_bytes", "bytes", 1, false, "memory of the box that the group holds, without page cache"},
	GroupPageCache: {"page_cache_bytes", "bytes", 1, false, "page cache of the files that the group read and wrote"},
	GroupRefaults:  {"refaults_per_s", "pages/s", 1, false, "pages read again soon after the page cache had dropped them"},
}

// String returns the metric's name.
func (m GroupMetric) String() string {
	if m >= NumGroupMetrics {
		return "unknown"
	}
	return GroupMetrics[m].Name
}

// Owner says whose processes are meant, as in Process; "" is not known.
type Owner struct{ User, Container, Pod, Namespace, Job string }

// Owner returns whose process p is.
func (p *Process) Owner() Owner { return Owner{p.User, p.Container, p.Pod, p.Namespace, p.Job} }

// GroupSample is the metrics of the processes of one job on a box at one tick. A value counts only
// where its reason is Known.
type GroupSample struct {
	Owner  Owner
	Values [NumGroupMetrics]float64
	Why    [NumGroupMetrics]Reason
}

// Set gives a metric a value, rounded to its resolution. What is not a finite number at all, or under
// 0, becomes OutOfRange.
func (s *GroupSample) Set(m GroupMetric, v float64) {
	s.Values[m], s.Why[m] = GroupMetrics[m].settle(v)
}

// Miss records why a metric has no value.
func (s *GroupSample) Miss(m GroupMetric, r Reason) { s.Values[m], s.Why[m] = 0, r }

// Clear forgets all values, for the reason r.
func (s *GroupSample) Clear(r Reason) {
	for m := range s.Why {
		s.Values[m], s.Why[m] = 0, r
	}
}

// Get gives a metric's value; ok is false where there is none.
func (s *GroupSample) Get(m GroupMetric) (v float64, ok bool) { return s.Values[m], s.Why[m] == Known }

// Reading is a figure that a program tells of itself, such as the tokens that it trained on in a
// second.
type Reading struct {
	Owner  Owner
	Device *Device // the device of the rank that told it; nil where it does not say
	Name   string  // "tokens_per_s", "samples_per_s", "mfu_pct", "step_s", or the program's own name
	Value  float64
}
