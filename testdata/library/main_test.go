package main

func Example_main() {
	main()
	// Output:
	// $427,058.13, 95% of jobs wait 0 s or less
	// $432,675.18, 95% of jobs wait 0 s or less
	// $441,785.07, 95% of jobs wait 27 min or less
}
