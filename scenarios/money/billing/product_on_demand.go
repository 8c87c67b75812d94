package billing

import (
	"strings"

	"capcli"
)

// Minimum billing times for a stretch of use on demand or on spot, by provider. Other providers
// have no minimum here; a line of use can state its own.
//
// Sources: AWS, "Announcing Amazon EC2 per-second billing" (2 October 2017: Linux, On-Demand,
// Reserved and Spot, a minimum of 60 seconds) and Amazon EC2 User Guide, "On-Demand Instances"
// (Windows and RHEL are billed by the second too); Google Cloud, "VM instance pricing" (vCPUs,
// GPUs and memory by the second, with a minimum of one minute); Microsoft, "Virtual Machines
// pricing" (one minute).
const (
	MinimumAWS   = capcli.Minute
	MinimumAzure = capcli.Minute
	MinimumGCP   = capcli.Minute
)

// minimumOf returns the minimum billing time of a provider for a stretch of use of a SKU. It is
// 0 where no document of the provider states one, and for reserved use, which is already paid.
func minimumOf(s *SKU, kind UseKind) capcli.Seconds {
	if kind == UseReserved {
		return 0
	}
	switch strings.ToLower(s.Provider) {
	case "aws":
		switch osOf(s.OS) {
		case "linux", "windows", "rhel":
			return MinimumAWS
		}
	case "azure":
		return MinimumAzure
	case "gcp":
		return MinimumGCP
	}
	return 0
}
