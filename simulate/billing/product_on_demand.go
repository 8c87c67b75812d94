package billing

import "capcli"

// On-demand use is billed by the second, with a minimum: a minute for Linux on
// AWS, on Azure and on Google Cloud. Some operating systems are billed by the
// hour begun; give such a line a minimum of its own.
//
// Source: AWS, "Amazon EC2 On-Demand Pricing" (per-second billing); Microsoft,
// "Virtual Machines pricing"; Google Cloud, "VM instance pricing".

// Least times billed for a stretch of on-demand use.
const (
	MinimumAWS   = capcli.Minute
	MinimumAzure = capcli.Minute
	MinimumGCP   = capcli.Minute
)
