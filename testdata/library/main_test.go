package main

func Example_main() {
	main()
	// Output:
	// $427,058.13, 95% of jobs wait 1h40m or less
	// $432,675.18, 95% of jobs wait 3h32m or less
	// $441,785.07, 95% of jobs wait 7h38m or less
}
