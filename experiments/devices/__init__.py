"""What is said of reports from devices, of one and of many over time, checked."""
