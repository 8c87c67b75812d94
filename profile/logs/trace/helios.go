package trace

func init() {
	addTable("helios", "SenseTime Helios cluster_log.csv (Hu et al., SC'21), and tables with its column names", tableFormat{
		needs: []string{"gpu_num", "submit_time", "duration"}, lifts: true,
		columns: []column{
			{"submit_time", readSubmit},
			{"start_time", readStart},
			{"end_time", readEnd},
			{"duration", readRun},
			{"gpu_num", readGPUs},
			{"cpu_num", readCPUs},
			{"user", readTenant},
			{"vc", readPartition},
			{"state", readState},
			{"job_id|jobname", readIDOrRow},
		},
	})
}

// blankIfUnknown returns nil for a word that means unknown, else b.
func blankIfUnknown(b []byte) []byte {
	switch string(trim(b)) {
	case "None", "NaN", "nan", "NaT", "null", "NULL", "Unknown", "N/A", "-":
		return nil
	}
	return b
}
